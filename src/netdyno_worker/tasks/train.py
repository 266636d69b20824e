"""How fast does it train? First step apart, warm-up, timed blocks; on real data every step is fed."""

import time
from collections import OrderedDict

from netdyno_worker.build import build, emit_memory, prepare
from netdyno_worker.feed.stream import Fed, open_stream
from netdyno_worker.steady import median
from netdyno_worker.timing import Timing, time_alone, time_block, time_calls, time_stages, time_until_sure, warm_up

BLOCKS = 5  # of each phase that is timed apart


def run(adapter, request, emit):
    timing = Timing(**request["timing"])
    if request.get("files") is None:
        measure(prepare(adapter, request, emit), timing, emit)
        return
    trainer, program = build(adapter, request, request, emit)
    measure_fed(trainer, open_stream(trainer, program, request["files"]), timing, emit)


def measure(trainer, timing, emit, clock=time.perf_counter):
    """Train and emit what was measured; the caller says the last word."""
    emit("first_step", seconds=time_block(trainer, 1, clock))
    emit("loss", when="first", losses=trainer.read("losses"))
    steps = warm_up(trainer, timing, emit, clock)
    trainer.forget_peak()
    time_until_sure(trainer, timing, steps, emit, clock)
    emit("loss", when="last", losses=trainer.read("losses"))
    emit_memory(trainer, emit)
    emit("launch", **time_alone(getattr(trainer, "alone", trainer), clock))  # asking, without feeding
    if timing.split:
        emit("split", **time_stages(trainer, steps, clock))


def measure_fed(trainer, stream, timing, emit, clock=time.perf_counter):
    """Measure, then time computing and loading separately, and report the stream's notes."""
    try:
        stream.feed()
        fed = Fed(trainer, stream)
        measure(fed, timing, emit, clock)
        turns = _turns(trainer, fed, timing.block_s, clock)
        compute_s = median([without for without, _ in turns])
        phases = _phases(trainer, stream, timing.block_s, clock)
        emit("phases", notes=stream.notes, turns=turns, compute_s=compute_s, **phases)
    finally:
        stream.close()


def _turns(trainer, fed, block_s, clock):
    """Seconds of a step without and with feeding, in turns: what feeding costs where loading keeps up. Where it does
    not, what was loaded meanwhile makes the turns with feeding look better than they are."""
    counts = [_count(each.step, trainer.wait, block_s, clock) for each in (trainer, fed)]
    return [
        [time_calls(each.step, trainer.wait, steps, clock) / steps for each, steps in zip((trainer, fed), counts)]
        for _ in range(BLOCKS)
    ]


def _phases(trainer, stream, block_s, clock):
    """Seconds per batch of loading, and of loading and placing it, each as the median of blocks.

    What is loaded ahead would make a first block look fast, so each phase's first block is not counted.
    """
    found = OrderedDict((name, []) for name in ("load_s", "feed_s"))
    functions = {"load_s": stream.skip, "feed_s": stream.feed}
    before = stream.seconds()
    loaded = 0
    for name, times in found.items():
        steps = _count(functions[name], trainer.wait, block_s, clock)
        for _ in range(BLOCKS):
            times.append(time_calls(functions[name], trainer.wait, steps, clock) / steps)
        loaded += steps * BLOCKS
    after = stream.seconds()
    phases = {name: median(times) for name, times in found.items()}
    phases["loader"] = {name: (after[name] - before[name]) / max(loaded, 1) for name in after if name != "wait_s"}
    return phases


def _count(function, wait, block_s, clock):
    """How many calls fill a block, after a first one that is not counted."""
    time_calls(function, wait, 1, clock)
    calls, seconds = 1, time_calls(function, wait, 1, clock)
    while seconds < block_s / 2 and calls < 100000:
        calls = min(10 * calls, max(calls + 1, int(calls * block_s / max(seconds, 1e-9))))
        seconds = time_calls(function, wait, calls, clock)
    return calls
