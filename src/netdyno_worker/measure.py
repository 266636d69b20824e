"""How a run is measured: first step apart, warm-up until steady, then calibrated blocks until the median is sure."""

import math
import time
from collections import OrderedDict, namedtuple

from netdyno_worker.memory import host_peak_bytes
from netdyno_worker.steady import is_steady, median, median_half_width

WINDOW = 8  # warm-up blocks looked at together: two halves of four
STEADY_TOLERANCE = 0.02
LEAST_WARM_UP = 2  # blocks: a framework may compile in its second step too, and that tells nothing of the others
MOST_STEPS = 1000000  # in a block: keeps a step that costs nothing from being calibrated for ever

# block_s: how long a block should be. warmup_cap_s and seconds: when to stop warming up and timing.
# target: relative half-width of the median's interval that is good enough. least_blocks: before it is believed.
# steps: how many to time, sure or not; 0 for as many as it takes to be sure. split: time the stages of a step too.
Settings = namedtuple("Settings", "block_s warmup_cap_s seconds target least_blocks steps split")
ALONE = 7  # steps that are timed one by one, to tell the time of asking from the time of computing


def measure(trainer, settings, emit, clock=time.perf_counter):
    """Train and emit what was seen; the caller says the last word."""
    emit("first_step", seconds=_time_block(trainer, 1, clock))
    emit("loss", when="first", losses=trainer.read("losses"))
    steps = _warm_up(trainer, settings, emit, clock)
    trainer.forget_peak()
    _time_until_sure(trainer, settings, steps, emit, clock)
    emit("loss", when="last", losses=trainer.read("losses"))
    emit_memory(trainer, emit)
    emit("launch", **_time_alone(getattr(trainer, "alone", trainer), clock))  # asking, without what is fed
    if settings.split:
        emit("split", **_time_stages(trainer, steps, clock))


def probe(trainer, seconds, clock=time.perf_counter):
    """Seconds per step: of the fastest block, which was disturbed the least, after as long a warm-up."""
    steps, found = 1, []
    deadline = clock() + 2 * seconds
    while clock() < deadline or len(found) < 3:
        taken = _time_block(trainer, steps, clock)
        if clock() >= deadline - seconds:
            found.append(taken / steps)
        steps = max(1, min(10 * steps, int(steps * seconds / 5.0 / max(taken, 1e-9))))
    return min(found)


def emit_memory(trainer, emit):
    """Say how much memory it took."""
    emit(
        "memory",
        host_peak_bytes=host_peak_bytes(),
        device_peak_bytes=trainer.peak_bytes(),
        device_reserved_bytes=trainer.reserved_bytes(),
    )


def _warm_up(trainer, settings, emit, clock):
    """Run blocks until they are steady; the number of steps in a block grows to fill `block_s`."""
    deadline = clock() + settings.warmup_cap_s
    steps, blocks, recent = 1, [], []
    while not is_steady(recent, WINDOW, STEADY_TOLERANCE):
        if len(blocks) >= LEAST_WARM_UP and clock() >= deadline:
            emit("warmup", steady=False, blocks=blocks)
            return _fitting(min(recent + [blocks[-1][1] / blocks[-1][0]]), settings)
        seconds = _time_block(trainer, steps, clock)
        blocks.append([steps, seconds])
        fitting = _fitting(seconds / steps, settings)
        if fitting > 2 * steps:
            steps, recent = min(fitting, 10 * steps), []
        else:
            recent.append(seconds / steps)
    emit("warmup", steady=True, blocks=blocks)
    return _fitting(median(recent), settings)


def _fitting(seconds_per_step, settings):
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


def _time_alone(trainer, clock):
    """Medians over steps that start with an empty queue: seconds until step() returned, and until it was computed.

    Where the first is nearly the time of a step in a block, the device waits for what it is asked to do.
    """
    asked, computed = [], []
    for _ in range(ALONE):
        start = clock()
        trainer.step()
        asked.append(clock() - start)
        trainer.wait()
        computed.append(clock() - start)
    return {"asked_s": median(asked), "computed_s": median(computed)}


def _time_stages(trainer, steps, clock):
    """{"stages": {name: seconds}} by subtraction: each stage's function does what the earlier ones do, and more."""
    stages = trainer.stages()
    if stages is None:
        return {"absent": "this framework's adapter cannot do a part of a step"}
    times = OrderedDict((name, []) for name, _ in stages)
    for number in range(ALONE + 1):
        for name, function in stages:
            seconds = _time_calls(function, trainer.wait, steps, clock) / steps
            if number:  # the first round may compile
                times[name].append(seconds)
    totals = [median(values) for values in times.values()]
    # One too short to be told from nothing may come out below it.
    return {"stages": {name: max(0.0, total - before) for name, total, before in zip(times, totals, [0.0] + totals)}}


def _time_block(trainer, steps, clock):
    """Seconds for `steps` steps; the device is waited for only at the end, so that its queue stays full."""
    return _time_calls(trainer.step, trainer.wait, steps, clock)


def _time_calls(function, wait, count, clock):
    start = clock()
    for _ in range(count):
        function()
    wait()
    return clock() - start
