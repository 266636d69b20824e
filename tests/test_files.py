"""A user's file is written whole or not at all, and nothing is left beside it."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.files import replacing


def test_a_file_is_replaced_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_is_interrupted_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises((NetdynoError, KeyboardInterrupt)):
        _half_written(path, error)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


def test_the_draft_of_a_killed_process_is_removed_by_the_next(tmp_path):
    path, ended = tmp_path / "report.html", subprocess.Popen(["true"])
    ended.wait()
    abandoned, in_use = tmp_path / f"report.html.{ended.pid}.making", tmp_path / f"report.html.{os.getppid()}.making"
    for draft in (abandoned, in_use):
        draft.write_text("half")
        os.utime(draft, (0, 0))
    with replacing(path) as file:
        file.write(b"new")
    assert {found.name for found in tmp_path.iterdir()} == {"report.html", in_use.name}


def test_a_device_stays_a_device():
    full = Path("/dev/full")
    with pytest.raises(NetdynoError, match="'/dev/full' cannot be written: no space left"), replacing(full) as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_link_keeps_pointing_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "words"), [("", "is a folder"), ("no/file", "no such file"), ("x" * 300, "too long")]
)
def test_what_cannot_be_written_is_one_line(tmp_path, name, words):
    with pytest.raises(NetdynoError, match=words), replacing(tmp_path / name) as file:
        file.write(b"x")


def _half_written(path: Path, error: BaseException) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise error
