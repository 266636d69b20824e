"""Time blocks of training steps on request: a line with a number of steps in, a line with two figures out:
seconds, and CPU seconds of all threads, which other work on the machine disturbs less.

Both sides of a comparison use it, each in a process of its own, so that their blocks can take turns. Python 3.6 on.
"""

import argparse
import sys
import time


def read_options(cases):
    """What a bare loop is to train; `cases` are keyed by (network, dataset)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", default="lenet")
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--execution", default="eager")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parameters", type=int, help="that the network should have; default: its usual number")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the network")
    options = parser.parse_args()
    if (options.network, options.dataset) not in cases:
        parser.error(f"expected one of {sorted(cases)}, received {(options.network, options.dataset)}")
    options.set = dict(read_setting(text) for text in options.set)
    usual = (lambda count: None) if options.set else (lambda count: count)
    options.expected = lambda count: options.parameters or usual(count)
    return options


def read_setting(text):
    """(name, number)."""
    name, _, value = text.partition("=")
    return name, float(value) if "." in value else int(value)


def check_parameters(count, expected) -> None:
    """A bare loop that trains another network than netdyno's proves nothing. None: not known."""
    if expected not in (None, count):
        raise SystemExit(f"expected {expected:,} parameters, received {count:,}")


def serve(step, wait) -> None:
    """Answer until standard input ends. Prefixed, because a framework may print lines of its own."""
    say("ready")
    for line in sys.stdin:
        steps = int(line)
        start, cpu_start = time.perf_counter(), time.process_time()
        for _ in range(steps):
            step()
        wait()
        say(f"{time.perf_counter() - start!r} {time.process_time() - cpu_start!r}")


def say(text) -> None:
    print("block:", text, flush=True)
