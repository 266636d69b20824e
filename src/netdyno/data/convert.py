"""How is a split converted? On all cores, in order, in constant memory; the same command continues after a crash."""

import functools
import math
import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from netdyno.data.formats.registry import format_to_write
from netdyno.data.item import About, Images, Item, Labels, PixelSource, Source, Writer, times
from netdyno.data.origin import is_made_from, other_data
from netdyno.data.recipe import Recipe, Unfit, about_to_write
from netdyno.data.writer import PixelWriter
from netdyno.errors import NetdynoError

CHUNK = 64  # items that a process makes at a time, fewer if they are large
CHUNK_BYTES = 1 << 22
AHEAD = 3  # chunks per process that may wait to be written
BLOCK_BYTES = 1 << 22  # of pixels that are copied without change
WRITE_BYTES = 1 << 23
WRITE_EVERY_S = 0.5

Progress = Callable[[int, float], None]  # items done, items per second
Submit = Callable[[int, int], Future[list[Item]]]  # of the items from the first to before the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A finished conversion; `begun_at` items were there from an earlier, interrupted one."""

    count: int
    begun_at: int
    seconds: float

    @property
    def items_per_s(self) -> float:
        return (self.count - self.begun_at) / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to write: the format, the folder, the size to cut images to, the number of processes."""

    format: str
    folder: Path
    size: int | None = None
    processes: int = 1


def convert_split(source: Source, split: str, target: Target, progress: Progress) -> Converted | None:
    """Convert a split; None if it is there already."""
    to_format = format_to_write(target.format)
    about = about_to_write(source, target.format, target.size)
    if split in to_format.find(target.folder):
        _check_same(_opened(target, split), about, target.folder / split)
        return None
    writer = to_format.create(target.folder, split, about)
    try:
        recipe = Recipe(source=source, about=about, to_pixels=writer.wants_pixels, size=target.size)
        _check_room(recipe, writer.done, target.folder)
        if target.size is None and isinstance(source, PixelSource) and isinstance(writer, PixelWriter):
            return convert_pixels(source, writer, progress)
        return convert(recipe, writer, target.processes, progress)
    except Unfit:
        writer.discard()
        raise
    finally:
        writer.close()


def convert(recipe: Recipe, writer: Writer, processes: int, progress: Progress) -> Converted:
    """Write all items that are not safe yet, then make the split visible.

    Whatever stops it (Ctrl-C, a bad item, a full disk), no process is left and what `done` counts is safe.
    """
    begun_at, count, start = writer.done, recipe.about.count, time.monotonic()
    with _pool(recipe, processes, count - begun_at) as submit:
        for items in _batches(_chunks(submit, processes, range(begun_at, count, _chunk_items(recipe)))):
            writer.write(items)
            progress(writer.done, (writer.done - begun_at) / max(time.monotonic() - start, 1e-9))
    if writer.done != count:
        raise NetdynoError(f"expected {count} items written, received a writer that counts {writer.done}.")
    writer.finish()
    return Converted(count=count, begun_at=begun_at, seconds=time.monotonic() - start)


def convert_pixels(source: PixelSource, writer: PixelWriter, progress: Progress) -> Converted:
    """The same where pixels stay as they are: in blocks, without making items of them."""
    begun_at, start = writer.done, time.monotonic()
    for images, labels in blocks(source, begun_at):
        writer.write_pixels(images, labels)
        progress(writer.done, (writer.done - begun_at) / max(time.monotonic() - start, 1e-9))
    writer.finish()
    return Converted(count=source.about.count, begun_at=begun_at, seconds=time.monotonic() - start)


def blocks(source: PixelSource, first: int) -> Iterator[tuple[Images, Labels]]:
    """All items from `first` on; a block is read while the one before it is used."""
    count = source.about.count
    step = max(1, BLOCK_BYTES // math.prod(source.about.shape or (1,)))
    bounds = [(begin, min(begin + step, count)) for begin in range(first, count, step)]
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(source.pixels, *bound) for bound in bounds[:1])
        for bound in bounds[1:]:
            coming.append(reader.submit(source.pixels, *bound))
            yield coming.popleft().result()
        yield from (last.result() for last in coming)


def _opened(target: Target, split: str) -> Source:
    """What is there already."""
    try:
        return format_to_write(target.format).open(target.folder, split)
    except NetdynoError as error:
        raise NetdynoError(str(error), hint=f"Delete {target.folder} to write it again.") from error


def _check_same(found: Source, wanted: About, where: Path) -> None:
    """Refuse a split that is of other data, another part of it, or has another shape."""
    there, hint = found.about, f"Delete {where.parent}, or choose another folder with --out."
    if wanted.origin and not is_made_from(found, wanted.origin):
        raise other_data(where, there.origin, wanted.origin, hint)
    if there.count != wanted.count or (None not in (there.shape, wanted.shape) and there.shape != wanted.shape):
        raise NetdynoError(
            f"{where}: expected {_words(wanted)}, there are {_words(there)}.",
            hint=hint,
        )


def _words(about: About) -> str:
    return f"{about.count:,} images" + (f" of {times(about.shape)}" if about.shape else "")


def _check_room(recipe: Recipe, done: int, folder: Path) -> None:
    """Refuse a disk that is too small before hours are spent. The size of encoded images is not known in advance."""
    if not recipe.to_pixels:
        return
    wanted = (recipe.about.count - done) * math.prod(recipe.about.shape or ())
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise NetdynoError(f"{folder}: expected {wanted:,} bytes free on its disk, there are {free:,}.")


def _chunk_items(recipe: Recipe) -> int:
    """Items per chunk, so that memory is bounded, assuming that the first item is typical."""
    return max(1, min(CHUNK, CHUNK_BYTES // max(1, _bytes_of(recipe.item(0)))))


def _chunks(submit: Submit, processes: int, starts: range) -> Iterator[list[Item]]:
    """Chunks in order, of which a bounded number is in flight."""
    waiting: deque[Future[list[Item]]] = deque()
    for first in starts:
        waiting.append(submit(first, min(first + starts.step, starts.stop)))
        if len(waiting) >= AHEAD * processes:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _batches(chunks: Iterator[list[Item]]) -> Iterator[list[Item]]:
    """Chunks joined, up to half a second or 8 MiB of them: every write costs several system calls."""
    items: list[Item] = []
    size, since = 0, time.monotonic()
    for chunk in chunks:
        items += chunk
        size += sum(_bytes_of(item) for item in chunk)
        if size >= WRITE_BYTES or time.monotonic() - since >= WRITE_EVERY_S:
            yield items
            items, size, since = [], 0, time.monotonic()
    if items:
        yield items


def _bytes_of(item: Item) -> int:
    return len(item.encoded) if item.encoded is not None else item.pixels.nbytes if item.pixels is not None else 0


@contextmanager
def _pool(recipe: Recipe, processes: int, count: int) -> Iterator[Submit]:
    """Processes if images are decoded or encoded; threads if they are only read."""
    parallel = recipe.is_work and processes > 1 and count > CHUNK
    executor = _started_processes(recipe, processes) if parallel else ThreadPoolExecutor(processes)
    make: Callable[[int, int], list[Item]] = _make if parallel else functools.partial(_items, recipe)
    try:
        yield lambda first, last: executor.submit(make, first, last)
    except BrokenProcessPool as error:
        raise NetdynoError(
            "a process that decodes or encodes images was killed; perhaps memory ran out.",
            hint="What is written is safe; the same command continues.",
        ) from error
    finally:
        executor.shutdown(cancel_futures=True)


def _items(recipe: Recipe, first: int, last: int) -> list[Item]:
    return [recipe.item(index) for index in range(first, last)]


def _started_processes(recipe: Recipe, processes: int) -> Executor:
    """Not forks of this process, which has threads. They ignore Ctrl-C: the parent ends them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    executor = ProcessPoolExecutor(processes, context, _begin, (recipe,))
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for _ in range(processes):
            executor.submit(_make, 0, 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
    return executor


_recipe: Recipe | None = None  # set once in each process of the pool, not sent with every chunk


def _begin(recipe: Recipe) -> None:
    """Set up a process of the pool; it ends with its parent, even if that is killed."""
    global _recipe
    _recipe = recipe
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _make(first: int, last: int) -> list[Item]:
    if _recipe is None:
        raise RuntimeError("a process of the pool received items before its recipe")
    return _items(_recipe, first, last)
