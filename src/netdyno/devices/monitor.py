"""The monitor, a process of its own that reads sensors while a worker trains: python -m netdyno.devices.monitor."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from netdyno.devices.host import open_host
from netdyno.devices.nvidia import READINGS, NvidiaGpu, open_gpu
from netdyno.devices.nvml import NoAnswer, NoLibrary, in_words, refusals, start_nvml
from netdyno.devices.orders import Orders
from netdyno.devices.recorder import Recorder, baseline
from netdyno.devices.trace import problem_line


def main() -> int:
    """Write the trace until the host closes our input, dies or asks us to end; say 'ready' once it has begun."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the host's to hear
    options = _options(sys.argv[1:])
    orders = Orders(source=sys.stdin.fileno())
    signal.signal(signal.SIGTERM, lambda *_: orders.end())
    try:
        with options.trace.open("wb", buffering=0) as file:  # a line is in the file once it is written
            monitor(options.gpu, orders, lambda lines: file.write(lines.encode()))
    except OSError as error:
        _say(f"problem: the trace cannot be written: {error.strerror}")
        return 1
    return 0


def monitor(gpus: Sequence[int], orders: Orders, write: Callable[[str], object]) -> None:
    """Follow the orders to their end; what breaks is written into the trace."""
    try:
        recorder = open_recorder(gpus)
        lines = baseline(recorder, time.monotonic, time.sleep)
        write(recorder.head() + lines)
        _say("ready")
        _follow(recorder, orders, write)
    except Exception as error:
        write(problem_line(time.monotonic(), f"the monitor failed: {error!r}"))


def open_recorder(gpus: Sequence[int]) -> Recorder:
    """The host and these GPUs, by NVML index; a GPU that cannot be opened is missing, with the reason."""
    opened, missing = _open_gpus(gpus)
    recorder = Recorder(sensors=[open_host(), *opened], missing=missing)
    recorder.start()
    return recorder


def _follow(recorder: Recorder, orders: Orders, write: Callable[[str], object]) -> None:
    while not orders.ended:
        for pid in orders.wait(recorder.next_due() - time.monotonic()):
            recorder.watch(pid)
        if lines := recorder.tick(time.monotonic()):
            write(lines)


def _say(words: str) -> None:
    try:
        print(words, flush=True)
    except BrokenPipeError:
        return  # nobody listens any more: the end of our input is about to show


def _open_gpus(indices: Sequence[int]) -> tuple[list[NvidiaGpu], dict[str, str]]:
    """Named by their place in the list, which is how a framework numbers them."""
    opened: list[NvidiaGpu] = []
    missing: dict[str, str] = {}
    for place, index in enumerate(indices):
        found = _open_gpu(index, f"gpu{place}")
        if isinstance(found, str):
            missing |= {f"gpu{place}.{name}": found for name in READINGS}
        else:
            opened.append(found)
    return opened, missing


def _open_gpu(index: int, name: str) -> NvidiaGpu | str:
    """The GPU, or why it cannot be read."""
    try:
        nvml = start_nvml()
    except (NoLibrary, NoAnswer) as reason:
        return str(reason)
    try:
        return open_gpu(nvml, index, name)
    except refusals(nvml) as error:
        return in_words(nvml, error)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m netdyno.devices.monitor", description=__doc__)
    parser.add_argument("trace", type=Path, help="the file to write")
    parser.add_argument("--gpu", type=int, nargs="*", default=[], metavar="INDEX", help="NVML indices of GPUs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
