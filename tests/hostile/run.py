"""Hostile input of every kind, by seed: python -m tests.hostile.run [SEED]

Suites, argument lists, imports, event streams and damaged stores in this process, data files in processes of their
own. Exit 1 if anything ended in a traceback, took too long, took too much memory, or changed what it refused.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.hostile import arguments, data_files, event_streams, imports, stores, suites
from tests.hostile.calling import told

KINDS = {suites: 1000, arguments: 1000, imports: 1000, event_streams: 500, stores: 200}
DATA_FILES = 600
MOST_BYTES = 2**30  # of this process


def main(seed: int) -> int:
    """How many faults there are."""
    faults = 0
    for kind, count in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            tally = kind.run(seed=seed, count=count, folder=Path(folder))
            faults += len(tally.faults)
            _say(kind.__name__, time.monotonic() - start, "\n".join(told(tally)))
    start = time.monotonic()
    found = data_files.run(seed, DATA_FILES)
    wrong = [f"{kind}: {name}" for kind, names in found.wrong.items() for name in names]
    sums = (
        f"{found.count} cases; {len(wrong)} faults; slowest {found.longest_s:.1f} s, {found.largest_bytes >> 20} MiB"
    )
    _say("data_files", time.monotonic() - start, "\n".join([*wrong[:20], sums]))
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"peak memory of this process: {peak_bytes >> 20} MiB")
    return faults + len(wrong) + (peak_bytes > MOST_BYTES)


def _say(name: str, seconds: float, text: str) -> None:
    print(f"{name.rpartition('.')[2]} ({seconds:.0f} s): {text}", flush=True)


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)))
