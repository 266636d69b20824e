"""Damaged exports by seed: an import takes all of a file or nothing, and says why in one line.

python -m tests.hostile.imports [SEED [COUNT]]
"""

import random
import shutil
import sys
import tempfile
from pathlib import Path

from netdyno.results.store import open_store
from tests.hostile.calling import Tally, call, scratch, told
from tests.hostile.json_damage import damaged
from tests.results.exports import everything, full_store


def cases(seed: int, count: int, lines: list[str]) -> list[tuple[str, bytes]]:
    """So many files, each with its name. Most have no digest at their end, which would find any damage first."""
    draw, made = random.Random(seed), []
    for number in range(count):
        data = damaged(lines, draw) if draw.random() < 0.1 else damaged(lines[:-1], draw) + b'{"kind": "end"}\n'
        made.append((f"imports {seed}/{number}", data))
    return made


def run(seed: int, count: int, folder: Path) -> Tally:
    """Import each file into a store that has something already; what was refused has changed nothing."""
    tally, original = Tally(), folder / "original.sqlite"
    full_store(folder / "other.sqlite").close()
    with scratch(folder), open_store(str(original)) as store:
        call(("--store", "other.sqlite", "results", "export", "--format", "json", "-o", "export.jsonl"))
        lines, before = Path("export.jsonl").read_text().splitlines(), everything(store)
        for name, data in cases(seed, count, lines):
            shutil.copy(original, "store.sqlite")
            Path("file.jsonl").write_bytes(data)
            answer = call(("results", "import", "file.jsonl"))
            tally.add(f"{name}\n{data[-300:]!r}", answer)
            with open_store("store.sqlite", create=False) as kept:
                if answer.code and everything(kept) != before:
                    tally.faults.append(f"{name}: refused, and the store was changed")
            if not answer.code:
                tally.add(f"{name}, then results", call(("results", "--json")))
    return tally


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        seed, count = (int(word) for word in [*sys.argv[1:], *["0", "300"][len(sys.argv) - 1 :]])
        print("\n".join(told(run(seed, count, Path(scratch_folder)))))
