"""What is on disk of a run: its folder, and a pointer to the run in flight that a killed netdyno leaves behind."""

import hashlib
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ATTEMPTS = 5  # at looking into a run that was in flight, before it is left alone for good


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
        """Where folders are made of which nothing is kept."""
        folder = self.home / "scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def point_at(self, folder: Path) -> None:
        """Remember the run in flight."""
        write_atomically(self._pointer(), folder.name)

    def forget(self) -> None:
        """No run is in flight."""
        self._pointer().unlink(missing_ok=True)

    def set_aside(self) -> "SetAside | None":
        """The pointer that a killed netdyno left, renamed before anything of its run is read. A run that ends netdyno
        each time it is read is given up after a few attempts."""
        for attempt in range(ATTEMPTS, -1, -1):
            found = self._pointer(attempt)
            if found.is_file():
                if attempt == ATTEMPTS:
                    return SetAside(pointer=found, folder=None, is_hopeless=True)
                renamed = self._pointer(attempt + 1)
                os.replace(found, renamed)
                return SetAside(pointer=renamed, folder=self._folder_of(renamed), is_hopeless=False)
        return None

    def _folder_of(self, pointer: Path) -> Path | None:
        """The run's folder; None where the pointer names nothing below the runs."""
        name = pointer.read_bytes()[:1000].decode(errors="replace").strip()
        folder = self.home / "runs" / name
        return folder if name and folder.parent == self.home / "runs" and folder.is_dir() else None

    def _pointer(self, attempt: int = 0) -> Path:
        digest = hashlib.sha256(self.store_name.encode()).hexdigest()[:12]
        return self.home / (f"in-flight-{digest}" + (f".attempt-{attempt}" if attempt else ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A run that was in flight, out of the way of those to come."""

    pointer: Path
    folder: Path | None
    is_hopeless: bool  # every attempt to look into it has killed netdyno

    def put_back(self) -> None:
        """Nothing of it was at fault, so this was no attempt."""
        os.replace(self.pointer, self.pointer.with_suffix(""))

    def forget(self) -> None:
        """It was looked into; the folder stays."""
        self.pointer.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """The old text or the new one, never half of it."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.making")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
