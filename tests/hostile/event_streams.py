"""Damaged event streams by seed: a run of them is measured, or failed with a reason, and its record can be kept.

python -m tests.hostile.event_streams [SEED [COUNT]]
"""

import json
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from netdyno.bench.campaign import storable_or_failed
from netdyno.results.record import OUTCOMES
from netdyno.results.store import Store, open_store
from netdyno.runtime.task import finished
from netdyno.runtime.watch import Ending
from netdyno.workloads.train import WORKLOAD
from netdyno.workloads.workload import RunFacts
from tests.hostile.calling import Answer, Tally, call, scratch, told
from tests.hostile.json_damage import damaged
from tests.results.samples import make_cell

LIMIT_S = 5.0
EVENTS = (
    {"event": "hello", "protocol": 2, "versions": {"lib": "1"}, "python": "3.11"},
    {"event": "built", "seconds": 0.1, "weights": "abc", "settings": {"layout": "nchw"}},
    {"event": "first_step", "seconds": 3.0},
    {"event": "loss", "when": "first", "losses": {"train": 2.0}},
    {"event": "warmup", "steady": True, "blocks": [[1, 0.2], [5, 0.5]]},
    *({"event": "sample", "steps": 10, "seconds": 1.0 + place / 100} for place in range(12)),
    {"event": "loss", "when": "last", "losses": {"train": 1.0}},
    {"event": "memory", "host_peak_bytes": 10**8, "device_peak_bytes": None},
    {"event": "done"},
)
LINES = [json.dumps({"at": place, **event}) for place, event in enumerate(EVENTS)]


def cases(seed: int, count: int) -> list[bytes]:
    """So many streams."""
    draw = random.Random(seed)
    return [damaged(LINES, draw) for _ in range(count)]


def run(seed: int, count: int, folder: Path) -> Tally:
    """Judge and keep each; in the end the store is shown and exported."""
    tally = Tally()
    with scratch(folder):
        with open_store("store.sqlite") as store:
            for number, data in enumerate(cases(seed, count), 1):
                tally.add(f"events {seed}/{number}\n{data[-300:]!r}", _judged(folder / f"run-{number}", data, store))
        for command in (("results", "--json"), ("results", "export", "-o", "out.jsonl"), ("report",)):
            tally.add("what was kept", call(command))
    return tally


def _judged(folder: Path, data: bytes, store: Store) -> Answer:
    """As if the run were a command: 0 if it was measured, 2 if not; a run without a reason is a fault."""
    start, code, fault = time.monotonic(), 0, ""
    (folder / "rank0").mkdir(parents=True)
    (folder / "rank0" / "events.jsonl").write_bytes(data)
    number = int(folder.name.rpartition("-")[2])
    facts = RunFacts(
        cell=make_cell(), series=1, number=number, machine="m", target=0.005, graph_digest="g", worker_hash="w",
        started_at="2026-11-15T10:00:00+00:00",
    )  # fmt: skip
    try:
        ended = finished(folder, Ending(exit_codes=(0,), foreign_share=0.0, stolen_share=0.0))
        record = store.add(storable_or_failed(WORKLOAD.record(facts, ended, "2026-11-15T10:01:00+00:00")))
        code = 0 if record.is_measured else 2
        if record.outcome not in OUTCOMES or not (record.is_measured or record.reason):
            fault = f"neither measured nor a reason: {record}"
    except Exception:
        fault = traceback.format_exc()
    seconds = time.monotonic() - start
    fault = fault or (f"took {seconds:.1f} s" if seconds > LIMIT_S else "")
    return Answer(arguments=(folder.name,), code=code, out="", errors="", seconds=seconds, fault=fault)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        seed, count = (int(word) for word in [*sys.argv[1:], *["0", "300"][len(sys.argv) - 1 :]])
        print("\n".join(told(run(seed, count, Path(scratch_folder)))))
