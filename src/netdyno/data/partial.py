"""How nothing half-written is ever used: files grow in a folder that ends in `.partial` and leave it complete."""

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.data.journal import NAME as JOURNAL
from netdyno.data.journal import Entry, Journal, Region, line_of, write_all
from netdyno.errors import NetdynoError

SYNC_EVERY_S = 1.0
FILES_SYNCED_ONE_BY_ONE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes and where they go. At offset 0 a file begins: it must not be there yet. A `whole` file never grows."""

    name: str  # relative to the split's folder
    data: bytes | memoryview
    at: int = 0
    whole: bool = False


class PartialSplit:
    """Files of a split on their way: written in `folder` (its name ends in `.partial`), moved beside it by `finish`.

    A write is safe when it returns: a killed process loses nothing of it. Disks are waited for once a second only,
    and what was written since is checked against its checksums when writing is continued: after a power cut too,
    nothing is taken for safe that is not.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.done = 0
        self.state: dict[str, Any] = {}
        self.sizes: dict[str, int] = {}  # of the files that may grow
        self._folder, self._clock = folder, clock
        self._unsynced: set[str] = set()
        with _spoken(folder, 0):
            self._journal = Journal(folder, facts)
            self._continue()
        self._synced_at = clock()

    def write(self, pieces: Sequence[Piece], items: int, state: Mapping[str, Any] | None = None) -> None:
        """Append the pieces, which are so many items. Where that fails, `done` stays what it was."""
        begun: list[Path] = []
        with _spoken(self._folder, self.done), ThreadPoolExecutor(1) as other:
            summed = other.submit(lambda: [_region(piece) for piece in pieces])
            try:
                for piece in pieces:
                    self._put(piece, begun)
                regions = summed.result()
                self._journal.add(line_of(self.done + items, regions, state))
            except OSError:
                self._undo(begun)
                raise
        self._count(self.done + items, regions, state)
        self._unsynced.update(region.name for region in regions)
        if self._clock() - self._synced_at >= SYNC_EVERY_S:
            self.sync()

    def sync(self) -> None:
        """Wait until the disk has everything."""
        with _spoken(self._folder, self.done):
            if len(self._unsynced) > FILES_SYNCED_ONE_BY_ONE:
                os.sync()
            else:
                for path in (self._folder / name for name in self._unsynced):
                    _sync_path(path)
            self._journal.sync()
        self._unsynced.clear()
        self._synced_at = self._clock()

    def finish(self) -> None:
        """Move everything beside the folder and remove it. Until the folder is gone, readers see no split."""
        self.sync()
        with _spoken(self._folder, self.done):
            for path in sorted(self._folder.iterdir()):
                if path.name != JOURNAL:
                    os.rename(path, self._folder.parent / path.name)
            _sync_path(self._folder.parent)
            self._journal.remove()
            self._folder.rmdir()

    def close(self) -> None:
        """Let another process continue."""
        self._journal.close()

    def _put(self, piece: Piece, begun: list[Path]) -> None:
        path = self._folder / piece.name
        if piece.at == 0:
            descriptor = _begin(path)
            begun.append(path)
        else:
            descriptor = os.open(path, os.O_WRONLY)
        try:
            write_all(descriptor, piece.data, piece.at)
        finally:
            os.close(descriptor)

    def _undo(self, begun: Iterable[Path]) -> None:
        for path in begun:
            path.unlink()
        self._cut_tails()

    def _cut_tails(self) -> None:
        for name, size in self.sizes.items():
            if (self._folder / name).exists():
                os.truncate(self._folder / name, size)

    def _count(self, done: int, regions: Iterable[Region], state: Mapping[str, Any] | None) -> None:
        self.done = done
        self.state = self.state if state is None else dict(state)
        for region in regions:
            if not region.whole:
                self.sizes[region.name] = max(self.sizes.get(region.name, 0), region.at + region.length)

    def _continue(self) -> None:
        safe = _first(self._journal.entries(), self._folder)
        self._journal.cut(safe)
        for entry in safe:
            self._count(entry.done, entry.regions, entry.state)
            if not entry.synced:
                self._unsynced.update(region.name for region in entry.regions)
        _remove_strays(self._folder, {region.name for entry in safe for region in entry.regions})
        self._cut_tails()


class PartialFile:
    """A single file that is only appended to."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        folder = path.with_name(path.name + ".partial")
        refuse_existing(folder, [path])
        self._name = path.name
        self._split = PartialSplit(folder, facts)

    @property
    def done(self) -> int:
        """How many items are safe."""
        return self._split.done

    @property
    def state(self) -> dict[str, Any]:
        """What the writer gave with the last item that is safe."""
        return self._split.state

    @property
    def size(self) -> int:
        """How many bytes are safe: where the next ones will go."""
        return self._split.sizes.get(self._name, 0)

    def append(self, data: bytes, items: int, state: Mapping[str, Any] | None = None) -> None:
        """Add bytes, which are so many items."""
        pieces = [Piece(name=self._name, data=data, at=self.size)] if data else []
        self._split.write(pieces, items, state)

    def finish(self) -> None:
        """Make the file visible under its name."""
        self._split.finish()

    def close(self) -> None:
        """Let another process continue."""
        self._split.close()


def partial_folder(root: Path, format_name: str, split: str) -> Path:
    """Where a split is being written."""
    return root / f"{format_name}-{split}.partial"


def is_unfinished(folder: Path) -> bool:
    """Whether a split is being written there: then it is not there for a reader, though some files may be."""
    return (folder / JOURNAL).exists()


def refuse_existing(folder: Path, paths: Iterable[Path]) -> None:
    """Never write over a split: files that are there while none is being written are somebody's."""
    there = [path for path in paths if path.exists()]
    if there and not is_unfinished(folder):
        raise NetdynoError(
            f"{there[0]}: expected to write a new split, received a folder that has it already.",
            hint="Delete it, or choose another folder.",
        )


def write_whole(path: Path, data: bytes) -> None:
    """A small file that is there with all its bytes or as it was before."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with _spoken(path, 0):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        _sync_path(draft)
        os.replace(draft, path)


@contextmanager
def _spoken(path: Path, done: int) -> Iterator[None]:
    """What the system refuses becomes one line."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise NetdynoError(
            f"{error.filename or path}: expected to write, received: {reason}. {done} items are safe.",
            hint="When that is mended, the same command continues behind them.",
        ) from error


def _begin(path: Path) -> int:
    """A new file, in a folder that is new perhaps; its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _first(entries: list[Entry], folder: Path) -> list[Entry]:
    """The entries up to the first whose bytes are not all there."""
    for number, entry in enumerate(entries):
        if not all(_holds(region, folder, entry.synced) for region in entry.regions):
            return entries[:number]
    return entries


def _holds(region: Region, folder: Path, synced: bool) -> bool:
    """Also where the file was moved already: `finish` may have been interrupted."""
    path = next((path for path in (folder / region.name, folder.parent / region.name) if path.exists()), None)
    if path is None or path.stat().st_size < region.at + region.length:
        return False
    return synced or _crc32(path, region) == region.crc32


def _crc32(path: Path, region: Region) -> int:
    with path.open("rb") as file:
        file.seek(region.at)
        return zlib.crc32(file.read(region.length))


def _region(piece: Piece) -> Region:
    return Region(
        name=piece.name, at=piece.at, length=len(piece.data), crc32=zlib.crc32(piece.data), whole=piece.whole
    )


def _remove_strays(folder: Path, known: set[str]) -> None:
    """Files of a write that did not come to its end."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path != folder / JOURNAL and str(path.relative_to(folder)) not in known:
                path.unlink()


def _sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
