"""What is on disk of a run: its folder, and a pointer to the run in flight that a killed netdyno leaves behind."""

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolders:
    """Where runs live below netdyno's home; one pointer for each store that runs are written to."""

    home: Path
    store_name: str

    def make(self, label: str) -> Path:
        """A new folder; its name is the run's id."""
        words = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in label)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        folder = self.home / "runs" / f"{stamp}-{words[:60]}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        return folder

    def scratch(self) -> Path:
        """Where folders are made that nobody will miss."""
        folder = self.home / "scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def point_at(self, folder: Path) -> None:
        """Remember the run in flight."""
        write_atomically(self._pointer(), folder.name)

    def pointed_at(self) -> Path | None:
        """The run that was in flight when netdyno last stopped without a word."""
        if not self._pointer().exists():
            return None
        folder = self.home / "runs" / self._pointer().read_text().strip()
        return folder if folder.is_dir() else None

    def forget(self) -> None:
        """No run is in flight."""
        self._pointer().unlink(missing_ok=True)

    def _pointer(self) -> Path:
        digest = hashlib.sha256(self.store_name.encode()).hexdigest()[:12]
        return self.home / f"in-flight-{digest}"


def write_json(path: Path, data: Any) -> None:
    """Plain JSON, readable by people."""
    path.write_text(json.dumps(data, indent=1, sort_keys=True), encoding="utf-8")


def write_atomically(path: Path, text: str) -> None:
    """The old text or the new one, never half of it."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.making")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


@contextmanager
def only_measurement(home: Path) -> Iterator[None]:
    """One measurement at a time: two would measure each other. The lock goes with the process."""
    path = home / "measuring.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise NetdynoError(
                f"expected an idle machine, received another measurement in process {holder}.",
                hint="Wait for it to end: two at once would measure each other.",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
