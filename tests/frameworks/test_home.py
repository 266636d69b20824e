"""Where netdyno keeps what it makes."""

from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.frameworks.home import home, home_path


def test_netdyno_home_wins_over_the_cache_folder() -> None:
    assert home_path({"NETDYNO_HOME": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")


def test_without_netdyno_home_it_is_in_the_cache_folder() -> None:
    assert home_path({"XDG_CACHE_HOME": "/b"}) == Path("/b/netdyno")
    assert home_path({}) == Path("~/.cache/netdyno").expanduser()


def test_home_is_made_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "deep" / "home"))
    assert home().is_dir()


def test_a_home_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(NetdynoError, match="NETDYNO_HOME"):
        home()


def test_home_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "own"))
    assert home().stat().st_mode & 0o777 == 0o700
    monkeypatch.delenv("NETDYNO_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "netdyno").mkdir(mode=0o755)
    assert home().stat().st_mode & 0o777 == 0o700


def test_a_home_that_was_named_stays_as_open_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o775)
    monkeypatch.setenv("NETDYNO_HOME", str(tmp_path / "shared"))
    assert home().stat().st_mode & 0o777 == 0o775
