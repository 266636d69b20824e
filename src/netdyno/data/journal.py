"""What of an unfinished split is safe: one line for each write, in a file that only one process holds."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError

NAME = "journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Bytes written: in which file, where, how many, their checksum; whether they are the whole file."""

    name: str
    at: int
    length: int
    crc32: int
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One write: how many items there are with it, its regions, the writer's state if it changed. `synced`: a power
    cut cannot take it back. `end` is where the next line begins."""

    done: int
    regions: tuple[Region, ...]
    state: dict[str, Any] | None
    synced: bool
    end: int


class Journal:
    """The lines of a split's journal; those of another split (other facts) are refused."""

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self._path = folder / NAME
        folder.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._end = self._begin(json.loads(json.dumps(facts)))
        except BaseException:
            self.close()
            raise

    def entries(self) -> list[Entry]:
        """What was written, up to the first line that is cut or damaged."""
        synced: list[Entry] = []
        others: list[Entry] = []
        for line, end in _lines(self._content(), self._head_end):
            if line.get("synced"):
                synced += [replace(entry, synced=True) for entry in others]
                synced[-1:] = [replace(entry, end=end) for entry in synced[-1:]]
                others = []
            elif entry := _find_entry(line, end):
                others.append(entry)
            else:
                break
        return synced + others

    def cut(self, entries: list[Entry]) -> None:
        """Forget all but these first entries."""
        self._end = entries[-1].end if entries else self._head_end
        os.ftruncate(self._descriptor, self._end)

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line; where that fails nothing of it stays."""
        data = _encoded(line)
        try:
            write_all(self._descriptor, data, self._end)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(data)

    def sync(self) -> None:
        """Tell that all entries so far have reached the disk: their files were synced just before."""
        self.add({"synced": True})
        os.fsync(self._descriptor)

    def remove(self) -> None:
        """The split is finished."""
        os.unlink(self._path)
        self.close()

    def close(self) -> None:
        """Let another process continue."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _begin(self, facts: dict[str, Any]) -> int:
        self._lock()
        content = self._content()
        head = next(_lines(content, 0), None)
        if head is None:
            data = _encoded({"facts": facts})
            os.ftruncate(self._descriptor, 0)
            write_all(self._descriptor, data, 0)
            self._head_end = len(data)
        elif head[0].get("facts") != facts:
            raise _other_facts(self._path.parent, head[0].get("facts"), facts)
        else:
            self._head_end = head[1]
        return self._head_end

    def _lock(self) -> None:
        """A lock that forked children do not inherit, so that an orphan cannot keep it."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise NetdynoError(
                f"{self._path.parent}: expected to be alone, another process is writing it.",
                hint="Wait for it, or end it.",
            ) from error

    def _content(self) -> bytes:
        return os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)


def line_of(done: int, regions: Sequence[Region], state: Mapping[str, Any] | None) -> dict[str, Any]:
    """An entry as it stands in the journal."""
    line: dict[str, Any] = {"done": done, "regions": [[r.name, r.at, r.length, r.crc32, r.whole] for r in regions]}
    return line if state is None else {**line, "state": dict(state)}


def write_all(descriptor: int, data: bytes | memoryview, at: int) -> None:
    """All of it: one system call may write less."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        rest, at = rest[written:], at + written


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _lines(content: bytes, start: int) -> Iterator[tuple[dict[str, Any], int]]:
    while (end := content.find(b"\n", start) + 1) > 0:
        try:
            line = json.loads(content[start:end])
        except (ValueError, RecursionError):
            return
        if not isinstance(line, dict):
            return
        yield line, end
        start = end


def _find_entry(line: dict[str, Any], end: int) -> Entry | None:
    try:
        regions = tuple(
            Region(name=str(name), at=int(at), length=int(length), crc32=int(crc), whole=bool(whole))
            for name, at, length, crc, whole in line["regions"]
        )
        return Entry(done=int(line["done"]), regions=regions, state=line.get("state"), synced=False, end=end)
    except (KeyError, TypeError, ValueError):
        return None


def _other_facts(folder: Path, before: Any, now: dict[str, Any]) -> NetdynoError:
    known = before if isinstance(before, dict) else {}
    differing = sorted(key for key in known.keys() | now.keys() if known.get(key) != now.get(key))
    return NetdynoError(
        f"{folder}: expected to continue a split with the same {', '.join(differing) or 'facts'}, "
        "received another: it was begun for other data.",
        hint=f"Delete {folder} to begin anew.",
    )
