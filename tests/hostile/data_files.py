"""Damaged data files by seed: a conversion of them ends soon, in bounds, with one line and without a traceback.

`cases` yields what to run; `run` runs it, each case in a process of its own, and says what went wrong.
By hand: python -m tests.hostile.data_files 300 [seed]
"""

import functools
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.data.formats.test_mutations import FILES

LIMIT_S = 20.0
MOST_BYTES = 2**30  # of memory, with the modules that are loaded anyway
SPARSE_BYTES = 2**36
TARGETS = ("packed", "tar", "folder", "lmdb", "idx")

Content = bytes | tuple[str, int | str]
"""The bytes of a file; or what it is instead: a folder, a pipe, a link to a path, or so many zeros behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A command, run in a folder with these files."""

    name: str
    argv: tuple[str, ...]
    files: Mapping[str, Content]


@dataclass(slots=True)
class Findings:
    """What was wrong, by kind; each with the name of its case and what it printed last."""

    count: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)
    longest_s: float = 0.0
    largest_bytes: int = 0


def cases(seed: int, count: int) -> Iterator[Case]:
    """Damaged datasets of every format in turn."""
    draw, names = random.Random(seed), list(FILES)
    for number in range(count):
        name = names[number % len(names)]
        files: dict[str, Content] = dict(_sound_files(name))
        hit = draw.choice(sorted(files))
        kind = draw.choice(list(DAMAGES))
        files |= DAMAGES[kind](draw, hit, _sound_files(name)[hit])
        target = draw.choice(TARGETS)
        size = ("--size", "8") if target in ("packed", "idx") and draw.random() < 0.8 else ()
        argv = ("datasets", "convert", "data", "--to", target, "--out", "out", *size)
        yield Case(name=f"{number}: {name}, {hit}, {kind}", argv=argv, files=files)


@functools.cache
def _sound_files(name: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        FILES[name][1](Path(folder))
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _flipped(draw: random.Random, data: bytes, bits: int) -> bytes:
    changed = bytearray(data)
    for _ in range(bits if data else 0):
        changed[draw.randrange(min(len(data), draw.choice((64, len(data)))))] ^= 1 << draw.randrange(8)
    return bytes(changed)


DAMAGES = {
    "cut": lambda draw, name, data: {name: data[: draw.randrange(len(data) + 1)]},
    "one bit": lambda draw, name, data: {name: _flipped(draw, data, 1)},
    "many bits": lambda draw, name, data: {name: _flipped(draw, data, 40)},
    "empty": lambda draw, name, data: {name: b""},
    "noise": lambda draw, name, data: {name: draw.randbytes(draw.randrange(1, 5000))},
    "longer": lambda draw, name, data: {name: data + draw.randbytes(draw.randrange(1, 5000))},
    "zeros behind it": lambda draw, name, data: {name: data, f"{name} ": ("zeros", SPARSE_BYTES)},
    "doubled": lambda draw, name, data: {name: data + data},
    "a folder": lambda draw, name, data: {name: ("folder", 0)},
    "a pipe": lambda draw, name, data: {name: ("pipe", 0)},
    "a link to itself": lambda draw, name, data: {name: ("link", Path(name).name)},
    "a link to nothing": lambda draw, name, data: {name: ("link", "nothing")},
    "a link to a device": lambda draw, name, data: {name: ("link", "/dev/zero")},
}


def _lay(folder: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        path = folder / "data" / name.rstrip()
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case bytes():
                path.write_bytes(content)
            case ("zeros", int(size)):
                os.truncate(path, size)
            case ("link", str(target)):
                path.symlink_to(target)
            case (kind, _):
                path.mkdir() if kind == "folder" else os.mkfifo(path)


def run(seed: int, count: int) -> Findings:
    """Run all cases, one after another."""
    findings = Findings()
    for case in cases(seed, count):
        with tempfile.TemporaryDirectory() as folder:
            _lay(Path(folder), case.files)
            start = time.monotonic()
            status, peak_bytes = _in_child(Path(folder), case.argv)
            took_s, said = time.monotonic() - start, (Path(folder) / "said").read_text(errors="replace")
        findings.count += 1
        findings.longest_s, findings.largest_bytes = (
            max(findings.longest_s, took_s),
            max(findings.largest_bytes, peak_bytes),
        )
        for kind in _problems(status, said, took_s, peak_bytes):
            findings.wrong.setdefault(kind, []).append(f"{case.name} {' '.join(case.argv[3:5])}: {said[-300:]!r}")
    return findings


def _in_child(folder: Path, argv: tuple[str, ...]) -> tuple[int, int]:
    """Its wait status and its largest memory."""
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.environ["NETDYNO_HOME"] = str(folder / "home")
        said = os.open("said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        os.execv(sys.executable, [sys.executable, "-m", "netdyno.cli.main", *argv])
    end = time.monotonic() + LIMIT_S + 5
    while (ended := os.wait4(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    return ended[1], ended[2].ru_maxrss * 1024


def _problems(status: int, said: str, took_s: float, peak_bytes: int) -> Iterator[str]:
    code = os.waitstatus_to_exitcode(status)
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if "Traceback" in said:
        yield "traceback"
    elif code not in (0, 2) or len(errors) != (code == 2):
        yield f"exit code {code} with {len(errors)} errors"
    if took_s > LIMIT_S:
        yield f"over {LIMIT_S:.0f} s"
    if peak_bytes > MOST_BYTES:
        yield f"over {MOST_BYTES >> 20} MiB"


if __name__ == "__main__":
    found = run(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1]))
    print(f"{found.count} cases, the longest {found.longest_s:.1f} s, the largest {found.largest_bytes >> 20} MiB")
    for kind, names in found.wrong.items():
        print(f"{kind}: {len(names)}", *names[:12], sep="\n  ")
    sys.exit(bool(found.wrong))
