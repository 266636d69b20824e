"""Is what an adapter states about fused ops read, wherever its file is?"""

from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import Spec, find_spec


def _spec(folder: Path) -> Spec:
    return replace(find_spec("reference"), adapter="own", worker_path=folder)


@pytest.mark.parametrize("file", ["own.py", "own/ops.py"])
def test_the_literal_is_read_from_a_module_or_a_folder(tmp_path: Path, file: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("import nothing_of_that_name\n\nFUSED = {'one', 'two'}\n")
    assert fused_ops(_spec(tmp_path)) == {"one", "two"}


def test_an_adapter_that_states_nothing_has_no_fused_op(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("UNSUPPORTED = {}\n")
    assert fused_ops(_spec(tmp_path)) == frozenset()
    assert fused_ops(_spec(tmp_path / "nowhere")) == frozenset()


def test_the_oracle_and_a_worker_in_another_language_have_none() -> None:
    assert fused_ops(find_spec("reference")) == frozenset()
    assert fused_ops(replace(find_spec("reference"), adapter="", program=Path("worker.js"))) == frozenset()


def test_an_adapter_of_the_package_states_its_own() -> None:
    assert "local_response_norm" in fused_ops(find_spec("pytorch-2"))


@pytest.mark.parametrize("value", ["set(NAMES)", "['one']", "{1}"])
def test_something_else_than_a_literal_set_of_names_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "own.py").write_text(f"FUSED = {value}\n")
    with pytest.raises(NetdynoError, match=r"own\.py: expected FUSED to be a literal set of op names, received"):
        fused_ops(_spec(tmp_path))
