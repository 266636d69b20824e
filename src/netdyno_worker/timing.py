"""How steps are timed: warm-up until steady, then calibrated blocks until the median is sure.

What is timed is anything with step(), which must not wait, and wait().
"""

import math
import time
from collections import OrderedDict, namedtuple

from netdyno_worker.steady import is_steady, median, median_half_width

WINDOW = 8  # warm-up blocks looked at together: two halves of four
STEADY_TOLERANCE = 0.02
LEAST_WARM_UP = 2  # blocks: a framework may compile in its second step too, which says nothing of the others
MOST_STEPS = 1000000  # in a block: bounds the calibration of a step that costs nothing
ALONE = 7  # steps that are timed one by one, to separate asking from computing

# block_s: how long a block should be. warmup_cap_s and seconds: when to stop warming up and timing.
# target: relative half-width of the median's interval that is good enough. least_blocks: before it is believed.
# steps: how many to time, sure or not; 0 for as many as it takes to be sure. split: time the stages of a step too.
Timing = namedtuple("Timing", "block_s warmup_cap_s seconds target least_blocks steps split")


def warm_up(trainer, timing, emit, clock=time.perf_counter):
    """Run blocks until they are steady and return how many steps fill one; that number grows to fill `block_s`."""
    deadline = clock() + timing.warmup_cap_s
    steps, blocks, recent = 1, [], []
    while not is_steady(recent, WINDOW, STEADY_TOLERANCE):
        if len(blocks) >= LEAST_WARM_UP and clock() >= deadline:
            emit("warmup", steady=False, blocks=blocks)
            return _fitting(min(recent + [blocks[-1][1] / blocks[-1][0]]), timing)
        seconds = time_block(trainer, steps, clock)
        blocks.append([steps, seconds])
        fitting = _fitting(seconds / steps, timing)
        if fitting > 2 * steps:
            steps, recent = min(fitting, 10 * steps), []
        else:
            recent.append(seconds / steps)
    emit("warmup", steady=True, blocks=blocks)
    return _fitting(median(recent), timing)


def time_until_sure(trainer, timing, steps, emit, clock=time.perf_counter):
    """Time blocks until the median's interval is within the target, the wanted steps are made or the time is up."""
    deadline = clock() + timing.seconds
    per_step, left = [], timing.steps
    while True:
        steps = min(steps, left) if timing.steps else steps
        seconds = time_block(trainer, steps, clock)
        emit("sample", steps=steps, seconds=seconds)
        per_step.append(seconds / steps)
        left -= steps
        sure = len(per_step) >= timing.least_blocks and median_half_width(per_step) <= timing.target
        if (left <= 0 if timing.steps else sure) or clock() >= deadline:
            return


def fastest_block(trainer, seconds, clock=time.perf_counter):
    """Seconds per step of the fastest block, which was disturbed the least, after as long a warm-up."""
    steps, found = 1, []
    deadline = clock() + 2 * seconds
    while clock() < deadline or len(found) < 3:
        taken = time_block(trainer, steps, clock)
        if clock() >= deadline - seconds:
            found.append(taken / steps)
        steps = max(1, min(10 * steps, int(steps * seconds / 5.0 / max(taken, 1e-9))))
    return min(found)


def time_alone(trainer, clock=time.perf_counter):
    """Medians over steps that start with an empty queue: seconds until step() returned, and until it was computed.

    Where the first is nearly the time of a step in a block, the device waits for the host.
    """
    asked, computed = [], []
    for _ in range(ALONE):
        start = clock()
        trainer.step()
        asked.append(clock() - start)
        trainer.wait()
        computed.append(clock() - start)
    return {"asked_s": median(asked), "computed_s": median(computed)}


def time_stages(trainer, steps, clock=time.perf_counter):
    """{"stages": {name: seconds}} by subtraction: each stage's function does what the earlier ones do, and more."""
    stages = trainer.stages()
    if stages is None:
        return {"absent": "this framework's adapter cannot do a part of a step"}
    times = OrderedDict((name, []) for name, _ in stages)
    for number in range(ALONE + 1):
        for name, function in stages:
            seconds = time_calls(function, trainer.wait, steps, clock) / steps
            if number:  # the first round may compile
                times[name].append(seconds)
    totals = [median(values) for values in times.values()]
    # A stage too short to be distinguished from nothing may come out below it.
    return {"stages": {name: max(0.0, total - before) for name, total, before in zip(times, totals, [0.0] + totals)}}


def time_block(trainer, steps, clock=time.perf_counter):
    """Seconds for `steps` steps; the device is waited for only at the end, so that its queue stays full."""
    return time_calls(trainer.step, trainer.wait, steps, clock)


def time_calls(function, wait, count, clock=time.perf_counter):
    """Seconds for `count` calls of a function that does not wait."""
    start = clock()
    for _ in range(count):
        function()
    wait()
    return clock() - start


def _fitting(seconds_per_step, timing):
    """How many steps fill a block."""
    wanted = int(math.ceil(timing.block_s / max(seconds_per_step, 1e-9)))
    return max(1, min(wanted, MOST_STEPS))
