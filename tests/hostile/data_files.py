"""Damaged data files by seed: a conversion of them ends soon, in bounds, with one line and without a traceback.

`cases` yields what to run; `run` runs it, each case in a process of its own, and says what went wrong.
By hand: python -m tests.hostile.data_files 300 [seed]
"""

import functools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.data.formats.test_mutations import FILES

LIMIT_S = 20.0
MOST_BYTES = 2**29  # of memory
SPARSE_BYTES = 2**36
TARGETS = ("packed", "tar", "folder", "lmdb", "idx", "recordio", "tfrecord")

Content = bytes | tuple[bytes, int] | tuple[str, str]
"""The bytes of a file, perhaps with zeros up to a size; or what lies there instead, and where a link leads."""


class Case(NamedTuple):
    """A command, run in a folder with these files below `data`."""

    name: str
    argv: tuple[str, ...]
    files: Mapping[str, Content]


@dataclass
class Findings:
    """What was wrong, by kind: the name of each case and what it printed last."""

    count: int = 0
    longest_s: float = 0.0
    largest_bytes: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Datasets of every format in turn, with one damaged file each."""
    draw, names = random.Random(seed), list(FILES)
    for number in range(count):
        name = names[number % len(names)]
        sound = _sound_files(name)
        hit, kind, target = draw.choice(sorted(sound)), draw.choice(list(DAMAGES)), draw.choice(TARGETS)
        size = ("--size", "8") if target in ("packed", "idx") and draw.random() < 0.8 else ()
        argv = ("datasets", "convert", "data", "--to", target, "--out", "out", *size)
        files = {**sound, hit: DAMAGES[kind](draw, hit, sound[hit])}
        yield Case(f"{number}: {name}, {hit}, {kind}, to {target}", argv, files)


def run(seed: int, count: int) -> Findings:
    """Run all cases, as many at a time as there are CPUs."""
    findings = Findings()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for case, (code, said, took_s, peak_bytes) in pool.map(_tried, cases(seed, count)):
            findings.count += 1
            findings.longest_s = max(findings.longest_s, took_s)
            findings.largest_bytes = max(findings.largest_bytes, peak_bytes)
            for kind in _problems(code, said, took_s, peak_bytes):
                findings.wrong.setdefault(kind, []).append(f"{case.name}: {said[-300:]!r}")
    return findings


def _tried(case: Case) -> tuple[Case, tuple[int, str, float, int]]:
    """Its exit code, what it printed, seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        _lay(Path(folder) / "data", case.files)
        start = time.monotonic()
        code, peak_bytes = _in_child(Path(folder), case.argv)
        return case, (code, (Path(folder) / "said").read_text(errors="replace"), time.monotonic() - start, peak_bytes)


@functools.cache
def _sound_files(name: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        FILES[name][1](Path(folder))
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _flipped(draw: random.Random, data: bytes, bits: int) -> bytes:
    changed = bytearray(data)
    for _ in range(bits):
        changed[draw.randrange(min(len(data), draw.choice((64, len(data)))))] ^= 1 << draw.randrange(8)
    return bytes(changed)


DAMAGES: dict[str, Callable[[random.Random, str, bytes], Content]] = {
    "cut": lambda draw, _, data: data[: draw.randrange(len(data) + 1)],
    "one bit": lambda draw, _, data: _flipped(draw, data, 1),
    "many bits": lambda draw, _, data: _flipped(draw, data, 40),
    "empty": lambda *_: b"",
    "noise": lambda draw, *_: draw.randbytes(draw.randrange(1, 5000)),
    "longer": lambda draw, _, data: data + draw.randbytes(draw.randrange(1, 5000)),
    "doubled": lambda _, __, data: data * 2,
    "zeros behind it": lambda _, __, data: (data, SPARSE_BYTES),
    "zeros": lambda *_: (b"", SPARSE_BYTES),
    "a folder": lambda *_: ("folder", ""),
    "a pipe": lambda *_: ("pipe", ""),
    "a link to itself": lambda _, name, __: ("link", Path(name).name),
    "a link to nothing": lambda *_: ("link", "nothing"),
    "a link to a device": lambda *_: ("link", "/dev/zero"),
}


def _lay(folder: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        kind, value = content if isinstance(content, tuple) else (content, len(content))
        if isinstance(kind, bytes):
            path.write_bytes(kind)
            os.truncate(path, value)
        elif kind == "link":
            path.symlink_to(value)
        else:
            path.mkdir() if kind == "folder" else os.mkfifo(path)


def _in_child(folder: Path, argv: tuple[str, ...]) -> tuple[int, int]:
    """Its exit code, and the most memory of it and its children."""
    command, environment = [sys.executable, "-m", "netdyno", *argv], {**os.environ, "NETDYNO_HOME": "home"}
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(command, env=environment, cwd=folder, stdout=said, stderr=said)
    end = time.monotonic() + LIMIT_S + 5
    while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            child.kill()
        time.sleep(0.02)
    child.returncode = 0  # waited for here, to know its memory
    return os.waitstatus_to_exitcode(ended[1]), ended[2].ru_maxrss * 1024


def _problems(code: int, said: str, took_s: float, peak_bytes: int) -> Iterator[str]:
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if "Traceback" in said or code not in (0, 2) or len(errors) != (code == 2):
        yield "traceback" if "Traceback" in said else f"exit code {code} with {len(errors)} errors"
    if took_s > LIMIT_S or peak_bytes > MOST_BYTES:
        yield f"over {LIMIT_S:.0f} s" if took_s > LIMIT_S else f"over {MOST_BYTES >> 20} MiB"


if __name__ == "__main__":
    found = run(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1]))
    print(f"{found.count} cases, the longest {found.longest_s:.1f} s, the largest {found.largest_bytes >> 20} MiB")
    sys.exit("\n".join(f"{kind}: {name}" for kind, names in found.wrong.items() for name in names))
