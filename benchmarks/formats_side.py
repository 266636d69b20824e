"""Time one job on request: a line in, a line out with its seconds and CPU seconds. Both sides of a comparison do.

What the job wrote before is removed first, and the disk is idle when the clock starts.
"""

import os
import shutil
import sys
import time

from blocks import say


def serve(job, target, expected) -> None:
    """Answer until standard input ends. What a job has read, [items, bytes, sum of labels], must be as expected."""
    say("ready")
    for _ in sys.stdin:
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        os.sync()
        start, cpu_start = time.perf_counter(), time.process_time()
        found = job()
        say(f"{time.perf_counter() - start!r} {time.process_time() - cpu_start!r}")
        if found is not None and list(found) != expected:
            raise SystemExit(f"expected {expected} (items, bytes, sum of labels), received {list(found)}")
