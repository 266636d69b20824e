"""What every test may use: a netdyno of its own, with an empty home and store, run as a user runs it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPTED = Path(__file__).parent / "scripted"


def hear_ctrl_c() -> None:
    """In a child, before it starts: tests run in a shell's background ignore SIGINT, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Netdyno:
    """The command in a process of its own."""

    home: Path
    environment: dict[str, str]

    def __call__(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=300, **more
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "netdyno", *arguments]

    def json(self, *arguments: str) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def script(self, **behaviours: Any) -> None:
        """What the scripted worker does at which batch: `script(b7="crash")`."""
        self.environment["NETDYNO_SCRIPT"] = json.dumps({key[1:]: what for key, what in behaviours.items()})


@pytest.fixture(autouse=True)
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests measure side by side, which users must not."""
    monkeypatch.setenv("NETDYNO_LOCK", str(tmp_path / "lock"))


@pytest.fixture
def netdyno(tmp_path: Path) -> Iterator[Netdyno]:
    home = tmp_path / "home"
    own = {"NETDYNO_HOME": str(home), "NETDYNO_SPECS": str(SCRIPTED), "NETDYNO_LOCK": str(tmp_path / "lock")}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NETDYNO_")}
    return Netdyno(home=home, environment={**inherited, **own})
