"""The spec files: the package's are complete, a user's are read, malformed ones are refused."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.frameworks.making import write_spec

from netdyno.data.formats.registry import formats
from netdyno.errors import NetdynoError
from netdyno.frameworks import spec as module
from netdyno.frameworks.spec import Spec, find_spec, read_spec, specs
from netdyno.results.cell import CHOICES


def test_the_package_brings_its_first_frameworks() -> None:
    assert {"pytorch-2", "jax", "reference", "null"} <= specs().keys()


@pytest.mark.parametrize("name", sorted(specs()))
def test_every_spec_names_its_own_file_an_adapter_and_known_choices(name: str) -> None:
    spec = find_spec(name)
    adapters = Path(__file__).parents[2] / "src" / "netdyno_worker" / "adapters"
    assert spec.unavailable if not spec.adapter else (adapters / spec.adapter / "trainer.py").exists()
    assert set(spec.devices) <= set(CHOICES["device"])
    assert set(spec.executions) <= set(CHOICES["execution"])
    assert set(spec.precisions) <= set(CHOICES["precision"])
    assert spec.native_format in {"", *formats()}


@pytest.mark.parametrize("name", sorted(specs()))
def test_every_requirement_is_an_exact_pin(name: str) -> None:
    spec = find_spec(name)
    assert all("==" in pin for pin in spec.requirements + spec.requirements_cuda)


def test_an_unknown_framework_is_answered_with_the_nearest() -> None:
    with pytest.raises(NetdynoError, match="Did you mean 'pytorch-2'"):
        find_spec("pytorch2")


def test_a_user_adds_a_framework_by_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "code").mkdir(parents=True)
    write_spec(tmp_path / "a", worker_path="code")
    write_spec(tmp_path / "b", name="other")
    monkeypatch.setenv("NETDYNO_SPECS", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    assert {"tiny", "other", "jax"} <= specs().keys()
    assert find_spec("tiny").worker_path == tmp_path / "a" / "code"


def test_a_file_is_parsed_once_and_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(module, "read_spec", lambda file: parsed.append(file.name) or read_spec(file))
    path = write_spec(tmp_path, title="First")
    monkeypatch.setenv("NETDYNO_SPECS", str(tmp_path))
    assert [find_spec("tiny").title for _ in range(3)] == ["First"] * 3
    assert parsed.count("tiny.toml") == 1
    write_spec(tmp_path, title="Second")
    os.utime(path, ns=(1, 1))
    assert find_spec("tiny").title == "Second"
    monkeypatch.delenv("NETDYNO_SPECS")
    with pytest.raises(NetdynoError, match="no framework named 'tiny'"):
        find_spec("tiny")


def test_a_specs_folder_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_SPECS", "/nowhere/at/all")
    with pytest.raises(NetdynoError, match=r"NETDYNO_SPECS.*nowhere"):
        specs()


def test_two_specs_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec(tmp_path, name="jax")
    monkeypatch.setenv("NETDYNO_SPECS", str(tmp_path))
    with pytest.raises(NetdynoError, match=r"'name'.*not used by"):
        specs()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", None),
        ("requirements", None),
        ("devices", []),
        ("devices", "cpu"),
        ("versions", "2.*"),
        ("python", 3.11),
        ("module", "a.b"),
        ("requirements", ["--index-url=x"]),
        ("cpu_index", "ftp://x"),
        ("worker_path", "not-there"),
        ("colour", "blue"),
        ("name", "Upper Case"),
        ("native_format", "cntk-map"),
    ],
)
def test_a_malformed_field_is_named_with_its_file(tmp_path: Path, field: str, value: object) -> None:
    path = write_spec(tmp_path, **{field: value})
    with pytest.raises(NetdynoError, match=f"'{field}'") as caught:
        read_spec(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("name = \n")
    with pytest.raises(NetdynoError, match=r"broken\.toml"):
        read_spec(path)


def test_the_digest_follows_what_the_environment_contains(tmp_path: Path) -> None:
    spec = read_spec(write_spec(tmp_path, cpu_index="http://x", requirements_cuda=["tinyframework==1.0"]))
    changed: list[Spec] = [
        replace(spec, requirements=("tinyframework==1.1",)),
        replace(spec, python=">=3.12"),
        replace(spec, cpu_index=""),
    ]
    digests = {spec.digest(gpu=False), *(other.digest(gpu=False) for other in changed)}
    assert len(digests) == 4
    assert spec.digest(gpu=True) != spec.digest(gpu=False)
    assert replace(spec, title="Other", note="x").digest(gpu=False) == spec.digest(gpu=False)
