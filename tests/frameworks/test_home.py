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
