"""How is a split written so that nothing half-written is ever used? In a folder whose name ends in `.partial`.

Files grow in that folder and are moved out of it when the split is complete. Each write adds one line to a log, after
its bytes; what the log does not count is removed when writing continues. The page cache outlives a killed process, so
a line counts as soon as it is written. It does not outlive the machine: after a reboot only the lines up to the last
`synced` one count, which is written after the disk has confirmed everything before it.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from netdyno.data.codecs.files import as_one_line, sync_path, write_all
from netdyno.data.origin import check_continues, differing
from netdyno.errors import NetdynoError

LOG = "progress.jsonl"
LARGEST_LOG_BYTES = 2**28
SYNC_EVERY_S = 1.0
FILES_SYNCED_ONE_BY_ONE = 16
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes for a file of a split, by default for its end. A `whole` file consists of one piece."""

    name: str  # relative to the split's folder
    data: bytes | memoryview
    at: int | None = None
    whole: bool = False


class PartialSplit:
    """The files of an unfinished split. A write that returned survives `kill -9`; a reboot costs about a second."""

    def __init__(
        self, folder: Path, facts: Mapping[str, object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.done = 0
        self.is_begun = False  # whether anything was written
        self.sizes: dict[str, int] = {}  # of the files that may grow
        self._folder, self._clock = folder, clock
        self._unsynced: set[str] = set()
        with _safely(folder, 0):
            self._log = _Log(folder, facts)
            self._continue()
        self._synced_at = clock()

    def write(self, pieces: Iterable[Piece], items: int) -> None:
        """Append the pieces, which hold `items` items. If that fails, nothing of them stays."""
        grown: dict[str, int] = {}
        whole: dict[str, int] = {}
        with _safely(self._folder, self.done):
            try:
                for piece in pieces:
                    self._put(piece, whole if piece.whole else grown)
                self._log.add(_Line(done=self.done + items, grown=grown, whole=whole, boot=_boot_id()))
            except OSError:
                self._undo([*grown, *whole])
                raise
        self.done, self.is_begun = self.done + items, True
        self.sizes |= grown
        self._unsynced.update(grown, whole)
        if self._clock() - self._synced_at >= SYNC_EVERY_S:
            self.sync()

    def sync(self) -> None:
        """Wait until the disk has everything."""
        with _safely(self._folder, self.done):
            if len(self._unsynced) > FILES_SYNCED_ONE_BY_ONE:
                os.sync()
            else:
                for name in self._unsynced:
                    sync_path(self._folder / name)
            self._log.add(_Line(synced=True), sync=True)
        self._unsynced.clear()
        self._synced_at = self._clock()

    def finish(self) -> None:
        """Move everything beside the folder and remove it. Until the log is gone, readers see no split."""
        self.sync()
        with _safely(self._folder, self.done):
            for path in sorted(self._folder.iterdir()):
                if path.name != LOG:
                    os.rename(path, self._folder.parent / path.name)
            sync_path(self._folder.parent)
            os.unlink(self._folder / LOG)
            self.close()
            self._folder.rmdir()

    def close(self) -> None:
        self._log.close()

    def discard(self) -> None:
        """Remove what was written: it can be no part of a complete split."""
        with _safely(self._folder, 0):
            shutil.rmtree(self._folder)
        self.close()

    def _put(self, piece: Piece, touched: dict[str, int]) -> None:
        """Write a piece; `touched` gets the file's size after it, as soon as the file was opened."""
        size = touched.get(piece.name, self.sizes.get(piece.name))
        descriptor = _opened(self._folder / piece.name, is_new=size is None)
        touched[piece.name] = size or 0
        try:
            at = (size or 0) if piece.at is None else piece.at
            write_all(descriptor, piece.data, at)
            touched[piece.name] = max(size or 0, at + len(piece.data))
        finally:
            os.close(descriptor)

    def _undo(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.sizes:
                os.truncate(self._folder / name, self.sizes[name])
            else:
                os.unlink(self._folder / name)

    def _continue(self) -> None:
        """Take up what the log counts and remove the rest."""
        known: set[str] = set()
        for line in self._log.keep_lines(self._holds):
            self.done, self.is_begun = line.done, True
            self.sizes |= line.grown
            known.update(line.grown, line.whole)
            if not line.synced:
                self._unsynced.update(line.grown, line.whole)
        for path in (Path(parent, name) for parent, _, names in os.walk(self._folder) for name in names):
            name = str(path.relative_to(self._folder))
            if name not in known and name != LOG:
                path.unlink()
            elif name in self.sizes:
                os.truncate(path, self.sizes[name])

    def _holds(self, line: "_Line") -> bool:
        """Whether all files of a line are long enough, here or where an interrupted `finish` moved them."""
        sizes = (line.grown | line.whole).items()
        return all(max(_size(self._folder / name), _size(self._folder.parent / name)) >= size for name, size in sizes)


class _Line(msgspec.Struct, omit_defaults=True):
    """A line of the log: the split's facts (the first), a write (files with their new sizes), or a sync."""

    facts: dict[str, object] | None = None
    done: int = 0
    grown: dict[str, int] = {}
    whole: dict[str, int] = {}
    boot: str = ""
    synced: bool = False


class _Log:
    """The log of an unfinished split. One process holds it; a split with other facts is refused."""

    def __init__(self, folder: Path, facts: Mapping[str, object]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._size = folder, 0
        self._descriptor = os.open(folder / LOG, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._lock()
            self._begin(msgspec.json.decode(msgspec.json.encode(facts)))
        except BaseException:
            self.close()
            raise

    def keep_lines(self, holds: Callable[[_Line], bool]) -> list[_Line]:
        """The writes whose bytes are there, in order, each marked `synced` or not; the log is cut after the last."""
        lines = list(self._lines())[1:]
        synced = max((number for number, (line, _) in enumerate(lines) if line.synced), default=-1)
        kept: list[_Line] = []
        for number, (line, end) in enumerate(lines):
            survived = number <= synced or line.boot == _boot_id() != ""
            if not survived or not holds(line):
                break
            self._size = end
            if not line.synced:
                line.synced = number < synced
                kept.append(line)
        os.ftruncate(self._descriptor, self._size)
        return kept

    def add(self, line: _Line, sync: bool = False) -> None:
        """Append a line; if that fails, nothing of it stays."""
        data = msgspec.json.encode(line) + b"\n"
        try:
            write_all(self._descriptor, data, self._size)
        except OSError:
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(data)
        if sync:
            os.fsync(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _begin(self, facts: dict[str, object]) -> None:
        head, self._size = next(self._lines(), (_Line(), 0))
        begun = len(list(self._lines())) > 1
        if head.facts is None or (not begun and differing(head.facts, facts)):
            _empty(self._folder)
            self._size = 0
            os.ftruncate(self._descriptor, 0)
            self.add(_Line(facts=facts))
        else:
            check_continues(self._folder, head.facts, facts)

    def _lock(self) -> None:
        """With a lock that forked children do not inherit, so that an orphan cannot keep it."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise NetdynoError(
                f"{self._folder}: another process is writing this split.", hint="Wait until it has ended."
            ) from error

    def _lines(self) -> Iterator[tuple[_Line, int]]:
        """Lines with where they end, up to the first that is cut or damaged."""
        size, start = os.fstat(self._descriptor).st_size, 0
        if size > LARGEST_LOG_BYTES:
            raise NetdynoError(
                f"{self._folder / LOG}: expected at most {LARGEST_LOG_BYTES:,} bytes, received {size:,}."
            )
        content = os.pread(self._descriptor, size, 0)
        while (end := content.find(b"\n", start) + 1) > 0:
            try:
                yield msgspec.json.decode(content[start:end], type=_Line), end
            except (msgspec.MsgspecError, RecursionError):
                return
            start = end


def partial_folder(root: Path, format_name: str, split: str) -> Path:
    """Where a split is being written."""
    return root / f"{format_name}-{split}.partial"


def is_unfinished(root: Path, format_name: str, split: str) -> bool:
    """Whether a split is being written: then readers must not see it, though some of its files may be in place."""
    return (partial_folder(root, format_name, split) / LOG).exists()


def begin_folder(root: Path, format_name: str, split: str, existing: Iterable[Path]) -> Path:
    """The folder to write a split in. Existing files are never overwritten, unless they come from this folder."""
    there = [path for path in existing if path.exists()]
    if there and not is_unfinished(root, format_name, split):
        raise NetdynoError(
            f"{there[0]}: expected to write a new split, received a folder that has it already.",
            hint="Delete it, or choose another folder.",
        )
    return partial_folder(root, format_name, split)


def _safely(folder: Path, done: int) -> AbstractContextManager[None]:
    hint = f"{done} items are safe. Once that is fixed, the same command continues after them."
    return as_one_line(folder, "cannot write: ", hint)


def _opened(path: Path, is_new: bool) -> int:
    if not is_new:
        return os.open(path, os.O_WRONLY)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _empty(folder: Path) -> None:
    """Remove everything but the log."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOG:
            path.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _boot_id() -> str:
    """Changes with every start of the machine; empty where the system does not say."""
    return _BOOT_ID.read_text().strip() if _BOOT_ID.exists() else ""
