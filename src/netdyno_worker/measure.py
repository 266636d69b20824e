"""How a run is measured: first step apart, warm-up until steady, then calibrated blocks until the median is sure."""

import math
import time
from collections import namedtuple

from netdyno_worker.memory import host_peak_bytes
from netdyno_worker.steady import is_steady, median, median_half_width

WINDOW = 8  # warm-up blocks looked at together: two halves of four
STEADY_TOLERANCE = 0.02
MOST_STEPS = 1000000  # in a block: keeps a step that costs nothing from being calibrated for ever

# block_s: how long a block should be. warmup_cap_s and seconds: when to stop warming up and timing.
# target: relative half-width of the median's interval that is good enough. least_blocks: before it is believed.
# steps: how many to time, sure or not; 0 for as many as it takes to be sure.
Settings = namedtuple("Settings", "block_s warmup_cap_s seconds target least_blocks steps")


def measure(trainer, settings, emit, clock=time.perf_counter):
    """Train and emit what was seen; the caller says the last word."""
    emit("first_step", seconds=_time_block(trainer, 1, clock))
    emit("loss", when="first", losses=trainer.read("losses"))
    steps = _warm_up(trainer, settings, emit, clock)
    _time_until_sure(trainer, settings, steps, emit, clock)
    emit("loss", when="last", losses=trainer.read("losses"))
    emit("memory", host_peak_bytes=host_peak_bytes(), device_peak_bytes=trainer.peak_bytes())


def _warm_up(trainer, settings, emit, clock):
    """Run blocks until they are steady; the number of steps in a block grows to fill `block_s`."""
    deadline = clock() + settings.warmup_cap_s
    steps, blocks, recent = 1, [], []
    while not is_steady(recent, WINDOW, STEADY_TOLERANCE):
        if blocks and clock() >= deadline:
            emit("warmup", steady=False, blocks=blocks)
            return _fitting(steps, median(recent or [blocks[-1][1]]), settings)
        seconds = _time_block(trainer, steps, clock)
        blocks.append([steps, seconds])
        fitting = _fitting(steps, seconds / steps, settings)
        if fitting > 2 * steps:
            steps, recent = min(fitting, 10 * steps), []
        else:
            recent.append(seconds / steps)
    emit("warmup", steady=True, blocks=blocks)
    return _fitting(steps, median(recent), settings)


def _fitting(steps, seconds_per_step, settings):
    """How many steps fill a block."""
    wanted = int(math.ceil(settings.block_s / max(seconds_per_step, 1e-9)))
    return max(1, min(wanted, MOST_STEPS))


def _time_until_sure(trainer, settings, steps, emit, clock):
    """Time blocks until the median's interval is within the target, the wanted steps are made or the time is up."""
    deadline = clock() + settings.seconds
    per_step, left = [], settings.steps
    while True:
        steps = min(steps, left) if settings.steps else steps
        seconds = _time_block(trainer, steps, clock)
        emit("sample", steps=steps, seconds=seconds)
        per_step.append(seconds / steps)
        left -= steps
        sure = len(per_step) >= settings.least_blocks and median_half_width(per_step) <= settings.target
        if (left <= 0 if settings.steps else sure) or clock() >= deadline:
            return


def _time_block(trainer, steps, clock):
    """Seconds for `steps` steps; the device is waited for only at the end, so that its queue stays full."""
    step = trainer.step
    start = clock()
    for _ in range(steps):
        step()
    trainer.wait()
    return clock() - start
