"""`netdyno results`, `results export` and `results import` as a user types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.exports import everything, exported, full_store
from typer.testing import CliRunner, Result

from netdyno.cli import results as command
from netdyno.errors import NetdynoError
from netdyno.results.store import open_store


def run(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command.app, list(arguments), env={"NETDYNO_STORE": str(store)})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    full_store(tmp_path / "source.db").close()
    return tmp_path / "source.db"


@pytest.mark.parametrize("show", [[], ["show"]])
def test_results_alone_shows_them_as_ever(source: Path, show: list[str]) -> None:
    assert len(json.loads(run(source, *show, "--json").stdout)) == 6
    assert len(json.loads(run(source, *show, "--json", "--every-series").stdout)) == 7
    (result,) = json.loads(run(source, *show, "device=cuda", "--json").stdout)
    assert result["network"] == "resnet50"
    assert "resnet50/imagenet" in run(source, *show, "device=cuda").stdout
    assert isinstance(run(source, *show, "device=tpu").exception, NetdynoError)


def test_help_names_the_commands(source: Path) -> None:
    told = run(source, "--help").stdout
    assert all(word in told for word in ("show", "export", "import"))


def test_an_export_goes_to_stdout_or_to_a_file(source: Path, tmp_path: Path) -> None:
    with open_store(str(source)) as store:
        assert run(source, "export", "--format", "json").stdout_bytes == exported(store)
    done = run(source, "export", "device=cuda", "-o", str(tmp_path / "gpu.md"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "results: 1 in" in done.stderr
    assert "resnet50" in (tmp_path / "gpu.md").read_text()


def test_parquet_wants_a_file(source: Path) -> None:
    error = run(source, "export", "--format", "parquet").exception
    assert isinstance(error, NetdynoError)
    assert "expected a file" in str(error)


def test_an_import_says_what_came_and_from_where(source: Path, tmp_path: Path) -> None:
    run(source, "export", "-o", str(tmp_path / "all.json.gz"))
    target = tmp_path / "target.db"
    assert run(target, "import", str(tmp_path / "all.json.gz")).stdout == (
        "imported 10 records, 1 graph, 2 proofs of machines here, there\n"
    )
    assert run(target, "import", str(tmp_path / "all.json.gz")).stdout == (
        "imported 0 records (10 known already), 0 graphs (1 known already), 0 proofs (2 known already)"
        " of machines here, there\n"
    )
    with open_store(str(source)) as a, open_store(str(target)) as b:
        assert everything(a) == everything(b)


def test_what_takes_long_is_followed_on_stderr_only(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LONG_S", 0.0)
    follow = command.Following("importing", "parts read")
    said: list[Any] = []
    monkeypatch.setattr(follow._console, "print", said.append)
    for _ in range(250):
        follow.count()
    assert said == ["importing: 100 parts read"]  # then again after ten seconds
