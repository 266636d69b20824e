"""How fast is netdyno against the best public tool at the same job? In turns, each in a process of its own."""

import json
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from against_bare import Block, Side, median_interval
from formats_tools import Tools

from netdyno.data.codecs.images import size_of
from netdyno.data.formats.registry import formats, open_split
from netdyno.data.item import Source

HERE = Path(__file__).parent
ALONE = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(HERE)}
BLOCKS_ON_ALL_CORES = 3
HEAD = f"{'job':<17}{'public tool':<25}{'public/s':>11}{'netdyno/s':>12}{'ratio':>7}{'95 % interval':>15}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A job of netdyno's (`write`, `read` or `decode`) in a format, and the public function that does the same."""

    job: str
    format: str
    tool: str  # as people call it
    function: str
    python: str = "packages"

    @property
    def is_of_pixels(self) -> bool:
        return self.function.startswith("numpy")

    def source(self, root: Path) -> Path:
        """Where both read: what was made for the run, or what netdyno wrote in the conversions before."""
        name = "mnist" if self.is_of_pixels else "photos"
        if self.job == "read":
            return root / name / self.format / "there"
        return root / name / "idx" / "there" if self.is_of_pixels else root / name


class Job(NamedTuple):
    """What netdyno's side is asked to do; `expected` is what it must have read."""

    kind: str
    format: str
    source: Path
    target: Path
    expected: str


DECODERS = (
    ("TurboJPEG (simplejpeg)", "simplejpeg_decode", "packages"),
    ("Pillow", "pillow_decode", "packages"),
    ("Pillow-SIMD", "pillow_decode", "pillow-simd"),
)
TOOLS = (
    # format, tool, its functions to write and to read, where it lives
    ("folder", "a loop (shutil, open)", "shutil_folder", "files_read_folder", "packages"),
    ("cntk_map", "a loop (shutil, open)", "shutil_cntk_map", "files_read_cntk_map", "packages"),
    ("tar", "tarfile", "tarfile_write", "tarfile_read", "packages"),
    ("tar", "webdataset", "webdataset_write", "webdataset_read", "packages"),
    ("lmdb", "lmdb, one transaction", "lmdb_write", "lmdb_read", "packages"),
    ("lmdb", "lmdb, 1,000 a commit", "lmdb_1000_write", None, "packages"),
    ("tfrecord", "tfrecord", "tfrecord_write", "tfrecord_read", "packages"),
    ("tfrecord", "tf.io, tf.data", "tensorflow_write", "tensorflow_read", "tensorflow-2"),
    ("recordio", "MXIndexedRecordIO", "mxnet_write", "mxnet_read", "mxnet-1.9"),
    ("idx", "NumPy", "numpy_write_idx", "numpy_read_idx", "packages"),
    ("cifar", "NumPy", "numpy_write_cifar", "numpy_read_cifar", "packages"),
    ("packed", "NumPy", "numpy_write_packed", "numpy_read_packed", "packages"),
)


def comparisons(chosen: Sequence[str]) -> list[Comparison]:
    """Those of the chosen formats; decoding is of none."""
    found = [
        Comparison(job="decode", format="folder", tool=tool, function=function, python=python)
        for tool, function, python in DECODERS
    ]
    for format_name, tool, to_write, to_read, python in TOOLS:
        for job, function in (("write", to_write), ("read", to_read)):
            if format_name in chosen and function:
                wish = {"job": job, "format": format_name, "tool": tool, "function": function, "python": python}
                found.append(Comparison(**wish))
    return found


def compare(wanted: Iterable[Comparison], tools: Tools, root: Path, pairs: int, begin: Callable[[str], None]) -> None:
    """Print a line for each."""
    print(f"\nimages/s, one process each, {pairs} pairs; then netdyno on all {cores()} cores:")
    print(f"{HEAD}{'all cores':>12}", flush=True)
    for each in wanted:
        begin(f"{each.job} {each.format} against {each.tool}")
        if each.python not in tools.pythons:
            print(f"{name(each):<17}{each.tool:<25}{tools.missing[each.python]}", flush=True)
        else:
            report(each, tools.pythons[each.python], root, pairs)


def report(each: Comparison, python: Path, root: Path, pairs: int) -> None:
    source = each.source(root)
    count, expected = facts(each.job, each.format, source)
    targets = root / "ours", root / "theirs"
    ours = start_ours(Job(each.job, each.format, source, targets[0], expected), 1)
    theirs = Side.start(
        [str(python), str(HERE / "formats_public.py"), each.function, str(source), str(targets[1]), expected], ALONE
    )
    found = in_turns(ours, theirs, pairs)
    if each.job == "write":
        check_same(each, targets)
    ratios = [public.seconds / netdyno.seconds for netdyno, public in found]
    netdyno_s, public_s = (statistics.median(block.seconds for block in side) for side in zip(*found, strict=True))
    low, high = median_interval(ratios)
    print(f"{name(each):<17}{each.tool:<25}{count / public_s:>11,.0f}{count / netdyno_s:>12,.0f}", end="")
    print(f"{statistics.median(ratios):>7.2f}{low:>8.2f}{high:>7.2f}", end="")
    all_s = on_all_cores(Job(each.job, each.format, source, targets[0], expected))
    print(f"{count / all_s:>12,.0f}", flush=True)


def start_ours(job: Job, processes: int) -> Side:
    command = [sys.executable, str(HERE / "formats_ours.py"), job.kind, job.format, str(job.source), str(job.target)]
    return Side.start([*command, str(processes), job.expected], ALONE)


def in_turns(ours: Side, theirs: Side, pairs: int) -> list[tuple[Block, Block]]:
    """Blocks of (ours, theirs) after one of each; who begins alternates."""
    for side in (ours, theirs):
        side.wait_until_ready()
        side.block(1)
    found = []
    for number in range(pairs):
        order = (ours, theirs) if number % 2 else (theirs, ours)
        blocks = {side.process.pid: side.block(1) for side in order}
        found.append((blocks[ours.process.pid], blocks[theirs.process.pid]))
    ours.stop()
    theirs.stop()
    return found


@cache
def on_all_cores(job: Job) -> float:
    """Seconds of netdyno's job, once for all tools that do the same."""
    ours = start_ours(job, cores())
    ours.wait_until_ready()
    ours.block(1)
    seconds = [ours.block(1).seconds for _ in range(BLOCKS_ON_ALL_CORES)]
    ours.stop()
    return statistics.median(seconds)


@cache
def facts(kind: str, format_name: str, source: Path) -> tuple[int, str]:
    """How many images there are; and what who reads them must find, as JSON: items, bytes, sum of labels."""
    split = formats()[format_name].open(source, "train") if kind == "read" else open_split(source, "train")
    items = [split.item(index) for index in range(split.about.count)]
    if kind == "decode":
        sizes = [size_of(item.encoded or b"") for item in items]
        size = sum(height * width * 3 for height, width, _ in sizes)
    else:
        size = sum(item.pixels.nbytes if item.pixels is not None else len(item.encoded or b"") for item in items)
    return len(items), json.dumps([len(items), size, sum(item.label for item in items)])


def check_same(each: Comparison, folders: tuple[Path, Path]) -> None:
    """Did both write the same images and labels, as netdyno reads them?"""
    ours, theirs = (contents(formats()[each.format].open(folder, "train")) for folder in folders)
    if ours != theirs:
        raise SystemExit(f"{each.tool} did another job than netdyno's: what it wrote as {each.format} differs")


def contents(source: Source) -> list[tuple[int, int]]:
    items = (source.item(index) for index in range(source.about.count))
    return [(i.label, hash(i.encoded if i.pixels is None else i.pixels.tobytes())) for i in items]


def name(each: Comparison) -> str:
    return "decode" if each.job == "decode" else f"{each.job} {each.format}"


def cores() -> int:
    return len(os.sched_getaffinity(0))
