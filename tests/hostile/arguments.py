"""Random argument lists of every command; none that measures, installs or removes anything.

python -m tests.hostile.arguments [SEED [COUNT]]
"""

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from netdyno.cli.main import COMMANDS, app
from tests.hostile.calling import Tally, call, scratch, told
from tests.results.exports import full_store

NUMBERS = (
    "0", "1", "2", "-1", "nan", "inf", "1e309", "99999999999", "9223372036854775808", "1.5", "0x10", "9" * 5000, "",
)  # fmt: skip
WORDS = (
    "lenet", "mnist", "null", "cpu", "eager", "float32", "network=lenet", "machine=here", "batch=32", "csv", "x",
    "json", "framework=alpha-1.0", "[/b]", "\x1b[2J", "\u202e", "\udcff", "a=b", "=", "network=", "a=b,c=d", ",",
    "é" * 300, "-", "a" * 5000, "../..", "/dev/null", "/dev/full", "/", ".", "no/such/file", "out.jsonl",
    "out.csv.gz", "mine.toml", "--", "*", "hidden=8", "accuracy=0.9", "accuracy=nan", "1%", "nan%",
    "postgresql://u:secret@127.0.0.1:1/x", "sqlite://", "execution=compiled", "mine.py:mine", "lenet/mnist",
    "html", "markdown",
)  # fmt: skip
# So that nothing is measured, downloaded, installed or removed, whatever else is drawn.
HARMLESS = {
    "run": ("--dry-run",), "train": ("--framework", "no-such"), "verify": ("--framework", "no-such"),
    "frameworks install": ("no-such",), "frameworks remove": ("no-such",), "frameworks check": ("no-such",),
    "datasets get": ("no-such",), "datasets convert": ("no-such", "--to", "packed"),
}  # fmt: skip
SLOW = ("doctor", "frameworks")  # because they look at the whole machine


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    arguments: tuple[str, ...]


def commands() -> dict[str, list[object]]:
    """Every command by its words, with its parameters."""
    root, found = typer.main.get_command(app), {}
    for name in COMMANDS:
        command = root.get_command(None, name)
        found[name] = command.params
        for below, one in getattr(command, "commands", {}).items():
            found[f"{name} {below}"] = one.params
    return found


def cases(seed: int, count: int) -> Iterator[Case]:
    """So many argument lists."""
    draw, known = random.Random(seed), commands()
    names = [name for name in known for _ in range(1 if name in SLOW else 5)]
    for number in range(count):
        name = draw.choice(names)
        words = [*name.split(), *_options(known[name], draw), *HARMLESS.get(name, ())]
        if draw.random() < 0.1:
            words = ["--store", draw.choice(WORDS), *words]
        yield Case(name=f"arguments {seed}/{number}", arguments=tuple(words))


def _options(parameters: Sequence[object], draw: random.Random) -> Iterator[str]:
    chosen = draw.sample(parameters, min(len(parameters), draw.choice([0, 1, 2, 3, 6])))
    for parameter in chosen:
        option = draw.choice(parameter.opts)
        if not option.startswith("-"):
            yield draw.choice(WORDS)
        elif getattr(parameter, "is_flag", False):
            yield option if option != "--help" or draw.random() < 0.1 else ""
        else:
            yield option
            if draw.random() < 0.97:
                yield draw.choice(NUMBERS if draw.random() < 0.4 else WORDS)


def run(seed: int, count: int, folder: Path) -> Tally:
    """Call netdyno with every list, beside a small store and some files."""
    tally = Tally()
    with scratch(folder):
        full_store(folder / "store.sqlite").close()
        Path("mine.toml").write_text('[matrix]\nnetwork = "lenet"\nframework = "null"\n')
        call(("results", "export", "-o", "out.jsonl"))
        for case in cases(seed, count):
            tally.add(case.name, call(case.arguments))
    return tally


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        seed, count = (int(word) for word in [*sys.argv[1:], *["0", "300"][len(sys.argv) - 1 :]])
        print("\n".join(told(run(seed, count, Path(scratch_folder)))))
