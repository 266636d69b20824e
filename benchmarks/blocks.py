"""Time blocks of training steps on request: a line with a number of steps in, a line with seconds out.

Both sides of a comparison use it, each in a process of its own, so that their blocks can take turns.
"""

import sys
import time


def serve(step, wait) -> None:
    """Answer until standard input ends. Prefixed, because a framework may print lines of its own."""
    say("ready")
    for line in sys.stdin:
        steps = int(line)
        start = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        say(repr(time.perf_counter() - start))


def say(text) -> None:
    print("block:", text, flush=True)
