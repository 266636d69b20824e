"""Mutated suite files, read by `netdyno run SUITE --dry-run`.

python -m tests.hostile.suites [SEED [COUNT]]
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.calling import Tally, call, scratch, told

FIELDS: dict[str, Sequence[str]] = {
    "workload": ("train", "train", "forward", "learn", "trian"),
    "network": (
        "lenet",
        "lenet/mnist",
        "alexnet/cifar10",
        "lenet/imagenet",
        "resnet5O",
        "mine.py:mine",
        "a/b/c",
        "/",
    ),
    "dataset": ("mnist", "mnist", "cifar10", "minst", ""),
    "framework": ("null", "reference", "nul", "pytorch-2"),
    "precision": ("float32", "float32", "tf32", "fp32"),
    "execution": ("eager", "fastest", "compiled", "egaer"),
    "data": ("synthetic", "synthetic", "packed", "native", "fresh"),
    "device": ("cpu", "cpu", "cuda", "gpu"),
    "batch": ("1", "8", "0", "-1", "9223372036854775808"),
    "threads": ("1", "2", "0", "1e3"),
    "options": ("{}", "{}", "{hidden = 8}", "{hidden = nan}", '{"" = 1}', "3"),
}
SETTINGS: dict[str, Sequence[str]] = {
    "name": ('"mine"', '"[/b]"', '"\\u001b[2J"', '"\\u202e"', f'"{"x" * 5000}"', "3"),
    "runs": ("1", "3", "0", "-1", "100000000000000000000", "1.5", "true"),
    "seed": ("0", "7", "-1", "4294967296"),
    "seconds": ("1", "0.5", "inf", "-inf", "nan", "1e309", "1e-300"),
    "target": ("0.01", "1", "0", "nan"),
    "deadline": ("60", "1e300", "inf"),
    "split": ("true", "false", "1"),
    "published_steps": ("true", '"yes"'),
}
ODD = (
    "nan", "inf", "1e309", "[]", "{}", "[[]]", '[["lenet/mnist"]]', "true", "0x" + "f" * 5000, "9" * 5000, "'''",
    '"' + "x" * 100_000 + '"', '"\\u0000"', '"\\ud800"', '"\U0001f600"', "''", '"' + "a/" * 500 + 'x.py:f"', "-0",
    "[" * 3000, "{a=" * 2000, str(list(range(3000))), "07:32:00", "1979-05-27",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    data: bytes


def suite(draw: random.Random) -> str:
    """Mostly right: settings, a matrix, and some tables to include and exclude."""
    lines = [
        f"{name} = {draw.choice(SETTINGS[name][: draw.choice([2, 9])])}"
        for name in draw.sample(list(SETTINGS), draw.choice([0, 0, 1, 2]))
    ]
    more = ["[[include]]"] * 9 + ["[[exclude]]"] * 9 + ["[matrix]", "[include]"]
    tables = ["[matrix]", *draw.choices(more, k=draw.randrange(3))]
    for table in tables:
        lines += [table, *_fields(draw)]
    return "\n".join(lines) + "\n"


def _fields(draw: random.Random) -> Iterator[str]:
    names = draw.sample(list(FIELDS), draw.randrange(5))
    for name in dict.fromkeys(["network", "framework", *names] if draw.random() < 0.95 else names):
        values = [_written(name, draw) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
        yield f"{name} = {values[0] if len(values) == 1 else '[' + ', '.join(values) + ']'}"


def _written(name: str, draw: random.Random) -> str:
    if draw.random() < 0.04:
        return draw.choice(ODD)
    value = draw.choice(FIELDS[name][: 2 if draw.random() < 0.95 else None])
    return value if name in ("batch", "threads", "options") else json.dumps(value)


def as_it_is(text: str, draw: random.Random) -> bytes:
    return text.encode()


def flip_bits(text: str, draw: random.Random) -> bytes:
    data = bytearray(text.encode())
    for _ in range(draw.choice([1, 3, 20])):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def cut(text: str, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(text)) for _ in range(2))
    return draw.choice([text[:end], text[start:], text[:start] + text[end:], text + text[start:end]]).encode()


def put_in(text: str, draw: random.Random) -> bytes:
    place = draw.randrange(len(text))
    return (text[:place] + draw.choice(ODD) + text[place:]).encode()


def repeat(text: str, draw: random.Random) -> bytes:
    line = draw.choice(text.splitlines())
    return (text + f"{line}\n" * draw.choice([1, 300, 5000])).encode()


def multiply(text: str, draw: random.Random) -> bytes:
    count = draw.choice([20, 3000, 60_000])
    return f"{text}\n[[include]]\nnetwork='lenet'\nbatch={list(range(1, count))}\nthreads=[1,2,3]\n".encode()


MUTATIONS: tuple[Callable[[str, random.Random], bytes], ...] = (
    as_it_is, as_it_is, as_it_is, flip_bits, flip_bits, cut, put_in, put_in, repeat, multiply,
)  # fmt: skip


def cases(seed: int, count: int) -> Iterator[Case]:
    """So many files."""
    draw = random.Random(seed)
    for number in range(count):
        mutation = draw.choice(MUTATIONS)
        yield Case(name=f"suites {seed}/{number} {mutation.__name__}", data=mutation(suite(draw), draw))


def run(seed: int, count: int, folder: Path) -> Tally:
    """Read every file; nothing is measured."""
    tally = Tally()
    with scratch(folder):
        for case in cases(seed, count):
            Path("mine.toml").write_bytes(case.data)
            tally.add(f"{case.name}\n{case.data[:300]!r}", call(("run", "mine.toml", "--dry-run")))
    return tally


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        seed, count = (int(word) for word in [*sys.argv[1:], *["0", "300"][len(sys.argv) - 1 :]])
        print("\n".join(told(run(seed, count, Path(scratch_folder)))))
