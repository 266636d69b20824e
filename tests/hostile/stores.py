"""Damaged SQLite stores: flipped bits, cut and misplaced pages, wrong rows, leftovers of a write-ahead log.

python -m tests.hostile.stores [SEED [COUNT]]
"""

import os
import random
import shutil
import sqlite3
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.calling import Tally, call, scratch, told
from tests.results.exports import full_store

COMMANDS = (
    ("results",), ("results", "--json"), ("results", "--every-series"), ("history", "network=lenet"),
    ("history", "workload=train", "--json"), ("compare", "machine=here", "machine=there"),
    ("compare", "batch=32", "batch=64", "--format", "markdown"), ("report", "-o", "page.html"),
    *(("results", "export", "--format", name, "-o", "out") for name in ("csv", "json", "latex", "mlperf", "parquet")),
    ("results", "import", "out.jsonl"),
)  # fmt: skip
VALUES = (
    None, -1, 0, 2**62, 1e308, "", "x", "[]", "{}", "[[0,1]]", '[["a"]]', "nan", b"\xff\x00", "9" * 500, "[" * 5000,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Case:
    """A kind of damage, the draws that decide it, and the command that meets it."""

    name: str
    damage: Callable[[Path, random.Random], None]
    draw: random.Random
    command: tuple[str, ...]


def flip_bits(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 1, 3, 30, 300])):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def flip_header(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 2, 5])):
        data[draw.randrange(16, 108)] = draw.randrange(256)
    path.write_bytes(data)


def truncate(path: Path, draw: random.Random) -> None:
    size = path.stat().st_size
    os.truncate(path, draw.choice([0, 1, 15, 16, 99, 100, 4096, draw.randrange(size)]))


def misplace_pages(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0] or 4096
    for _ in range(draw.choice([1, 2, 5])):
        to, of = (draw.randrange(len(data) // size) * size for _ in range(2))
        data[to : to + size] = draw.choice([bytes(data[of : of + size]), bytes(size), draw.randbytes(size)])
    path.write_bytes(data)


def leave_a_log(path: Path, draw: random.Random) -> None:
    """A write-ahead log of another moment, whole, damaged or of nonsense."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    database.execute("update runs set reason = 'changed'")
    log = Path(f"{path}-wal")
    before, data = path.read_bytes(), bytearray(log.read_bytes())
    database.close()  # which deletes the log
    path.write_bytes(before)
    for _ in range(draw.choice([0, 1, 20])):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    log.write_bytes(draw.choice([bytes(data), bytes(data[: draw.randrange(len(data))]), draw.randbytes(5000)]))
    Path(f"{path}-shm").write_bytes(draw.choice([b"", draw.randbytes(32768)]))


def change_values(path: Path, draw: random.Random) -> None:
    """Values that the database accepts and netdyno never wrote."""
    with sqlite3.connect(path) as database:
        table = draw.choice(["runs", "runs", "runs", "proofs", "netdyno_schema"])
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        for _ in range(draw.choice([1, 1, 2])):
            rows = draw.choice(["1", f"rowid = (select min(rowid) from {table})"])
            change = f"update {table} set {draw.choice(columns)} = ? where {rows}"
            try:
                database.execute(change, (draw.choice(VALUES),))
            except sqlite3.IntegrityError:
                continue
    database.close()


def change_schema(path: Path, draw: random.Random) -> None:
    with sqlite3.connect(path) as database:
        table = draw.choice(["runs", "proofs", "graphs", "limits", "netdyno_schema"])
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        drop = [f"drop table {table}", f"alter table {table} rename column {draw.choice(columns)} to other"]
        database.execute(draw.choice([*drop, f"delete from {table}"]))
    database.close()


ONCE = (flip_header, truncate, misplace_pages, leave_a_log, change_schema)
DAMAGES = (*ONCE, flip_bits, flip_bits, change_values, change_values)


def cases(seed: int, count: int) -> Iterator[Case]:
    """So many damages with the command that is tried on each."""
    draw = random.Random(seed)
    for number in range(count):
        damage, own = draw.choice(DAMAGES), random.Random(draw.random())
        name = f"stores {seed}/{number} {damage.__name__}"
        yield Case(name=name, damage=damage, draw=own, command=draw.choice(COMMANDS))


def run(seed: int, count: int, folder: Path) -> Tally:
    """Try every case on a fresh copy of one small store."""
    original, tally = folder / "original.sqlite", Tally()
    full_store(original).close()
    with scratch(folder):
        call(("--store", str(original), "results", "export", "--format", "json", "-o", "out.jsonl"))
        for case in cases(seed, count):
            for old in folder.glob("store.sqlite*"):
                old.unlink()
            shutil.copy(original, folder / "store.sqlite")
            case.damage(folder / "store.sqlite", case.draw)
            tally.add(case.name, call(case.command))
    return tally


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        seed, count = (int(word) for word in [*sys.argv[1:], *["0", "300"][len(sys.argv) - 1 :]])
        print("\n".join(told(run(seed, count, Path(scratch_folder)))))
