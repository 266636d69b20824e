"""The monitor process: reads sensors while the ranks of a run work. Start it as python -m netdyno.devices.monitor."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from netdyno.devices.monitor.commands import Commands
from netdyno.devices.monitor.gpu import READINGS, NvidiaGpu, open_gpu
from netdyno.devices.monitor.host import open_host
from netdyno.devices.monitor.recorder import Recorder, baseline
from netdyno.devices.monitor.trace import problem_line
from netdyno.devices.nvidia.nvml import NoAnswer, NoLibrary, in_words, refusals, start_nvml


def main() -> int:
    """Write the trace until the host closes our input, dies or sends SIGTERM; print 'ready' after the baseline."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the host
    options = _options(sys.argv[1:])
    commands = Commands(source=sys.stdin.fileno())
    signal.signal(signal.SIGTERM, lambda *_: commands.end())
    try:
        with options.trace.open("wb", buffering=0) as file:  # a line is in the file once it is written
            monitor(options.gpu, commands, lambda lines: file.write(lines.encode()))
    except OSError as error:
        _say(f"problem: the trace cannot be written: {error.strerror}")
        return 1
    return 0


def monitor(gpus: Sequence[int], commands: Commands, write: Callable[[str], object]) -> None:
    """Record until the commands end; a failure is written into the trace."""
    try:
        recorder = open_recorder(gpus)
        lines = baseline(recorder, time.monotonic, time.sleep)
        write(recorder.head() + lines)
        _say("ready")
        _record(recorder, commands, write)
    except Exception as error:
        write(problem_line(time.monotonic(), f"the monitor failed: {error!r}"))


def open_recorder(gpus: Sequence[int]) -> Recorder:
    """The host and these GPUs, by NVML index; a GPU that cannot be opened is missing with the reason."""
    opened, missing = _open_gpus(gpus)
    recorder = Recorder(sensors=[open_host(), *opened], missing=missing)
    recorder.start()
    return recorder


def _record(recorder: Recorder, commands: Commands, write: Callable[[str], object]) -> None:
    while not commands.ended:
        if pids := commands.wait(recorder.next_due() - time.monotonic()):
            recorder.watch(pids)
        if lines := recorder.tick(time.monotonic):
            write(lines)


def _say(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        return  # the host is gone: our input is about to end


def _open_gpus(indices: Sequence[int]) -> tuple[list[NvidiaGpu], dict[str, str]]:
    """Named by their place in the list, as the run numbers its GPUs."""
    opened: list[NvidiaGpu] = []
    missing: dict[str, str] = {}
    for place, index in enumerate(indices):
        found = _open_gpu(index, f"gpu{place}", len(indices))
        if isinstance(found, str):
            missing |= {f"gpu{place}.{name}": found for name in READINGS}
        else:
            opened.append(found)
    return opened, missing


def _open_gpu(index: int, name: str, gpus: int) -> NvidiaGpu | str:
    """The GPU, or why it cannot be read."""
    try:
        nvml = start_nvml()
    except (NoLibrary, NoAnswer) as reason:
        return str(reason)
    try:
        return open_gpu(nvml, index, name, gpus=gpus)
    except refusals(nvml) as error:
        return in_words(nvml, error)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m netdyno.devices.monitor", description=__doc__)
    parser.add_argument("trace", type=Path, help="the file to write")
    parser.add_argument("--gpu", type=int, nargs="*", default=[], metavar="INDEX", help="NVML indices of GPUs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
