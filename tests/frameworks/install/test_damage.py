"""What was deleted or changed in an environment by hand is noticed, and the next install repairs it."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import MARKER, environment_of, is_complete, packages_in
from netdyno.frameworks.install.damage import find_misfits, first_damaged
from netdyno.frameworks.install.framework import install, remove
from netdyno.frameworks.spec import Spec


def _distribution(folder: Path, record: str) -> Path:
    info = folder / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text(record)
    (folder / "lib.py").write_text("12345")
    return folder


def test_a_missing_file_and_one_of_another_size_are_damage(tmp_path: Path) -> None:
    packages = _distribution(tmp_path, "lib.py,sha256=x,5\n")
    assert first_damaged(packages) == ""
    (packages / "lib.py").write_text("123")
    assert first_damaged(packages) == "lib.py"
    (packages / "lib.py").unlink()
    assert first_damaged(packages) == "lib.py"


def test_compiled_python_and_files_without_a_size_may_change(tmp_path: Path) -> None:
    packages = _distribution(tmp_path, "lib.py,,\n__pycache__/lib.cpython-311.pyc,,\n")
    (packages / "lib.py").write_text("longer than before")
    assert first_damaged(packages) == ""


def test_a_file_that_netdyno_added_counts_too(tmp_path: Path) -> None:
    packages = _distribution(tmp_path, "lib.py,sha256=x,5\n")
    assert first_damaged(packages, ("libs/stub.so",)) == "libs/stub.so"


def test_a_file_that_never_had_its_listed_size_is_no_damage_until_it_is_missing(tmp_path: Path) -> None:
    packages = _distribution(tmp_path, "lib.py,sha256=x,7\n")
    assert find_misfits(packages) == ["lib.py"]
    assert first_damaged(packages, misfits=["lib.py"]) == ""
    (packages / "lib.py").unlink()
    assert first_damaged(packages, misfits=["lib.py"]) == "lib.py"


def test_an_environment_of_a_badly_packed_wheel_is_made_once(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    marker = environment / MARKER
    record = packages_in(environment) / "tinyframework-1.0.dist-info" / "RECORD"
    record.write_text(re.sub(r"METADATA,[^,\n]*,\d*", "METADATA,,1", record.read_text()))
    wrong = find_misfits(packages_in(environment))
    assert len(wrong) == 1
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "misfits": wrong}))
    said: list[str] = []
    install(tiny, report=said.append)
    assert not any("making" in text for text in said)


def test_the_next_install_repairs_what_is_missing_with_the_versions_of_before(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    lock = environment.parent / f"{environment.name}.lock.txt"
    assert re.fullmatch(r"tinyframework==1.0 --hash=sha256:[0-9a-f]{64}\n", lock.read_text())
    (packages_in(environment) / "tinyframework-1.0.dist-info" / "METADATA").unlink()
    said: list[str] = []
    install(tiny, report=said.append)
    assert any("METADATA is missing or changed" in text for text in said)
    assert first_damaged(packages_in(environment)) == ""
    assert "--require-hashes" in (environment.parent / f"{environment.name}.log").read_text()


def test_another_file_under_the_same_version_is_refused(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    (environment / MARKER).unlink()
    with zipfile.ZipFile(next(offline.glob("*.whl")), "a") as wheel:
        wheel.writestr("surprise.py", "")
    with pytest.raises(NetdynoError, match=r"not the one that was installed before.*frameworks remove tiny"):
        install(tiny, report=lambda _: None)


def test_what_is_removed_is_gone_with_its_log_and_its_lock(tiny: Spec, offline: Path) -> None:
    environment = install(tiny, report=lambda _: None)
    assert remove(tiny, report=lambda _: None) > 0
    assert not is_complete(tiny, environment_of(tiny))
    assert [path.name for path in environment.parent.iterdir()] == [f"{environment.name}.lock"]
    assert remove(tiny, report=lambda _: None) == 0
