"""How a run on real data is measured: every step is fed, and loading and computing are also timed apart."""

import time
from collections import OrderedDict

from netdyno_worker.contract import Files
from netdyno_worker.loader import Batches, Loader
from netdyno_worker.measure import measure
from netdyno_worker.packed import open_packed
from netdyno_worker.steady import median

BLOCKS = 5  # of each phase that is timed apart


class Fed(object):
    """A trainer whose every step takes its own batch; everything else is the trainer's."""

    def __init__(self, trainer, stream):
        self.alone = trainer
        self._stream = stream

    def step(self):
        self._stream.feed()
        self.alone.step()

    def stages(self):
        """Of a step that is fed: a part of it would have to be fed too."""
        return None

    def __getattr__(self, name):
        return getattr(self.alone, name)


class PackedStream(object):
    """The worker's own loader, the same in every framework."""

    notes = {}  # pipelines tell how they differ from it

    def __init__(self, trainer, batches, threads):
        self._trainer = trainer
        self._loader = Loader(batches, threads)

    def feed(self):
        self._trainer.feed(self._loader.take())

    def skip(self):
        self._loader.take()

    def seconds(self):
        """{stage: seconds so far, of all threads}, and `wait_s` of who waited for a batch."""
        return self._loader.seconds()

    def close(self):
        self._loader.stop()


def open_stream(trainer, program, request):
    """What a request's files are fed by: the worker's own loader, or the framework's pipeline over its own format."""
    files = request["files"]
    if files["format"] != "packed":
        return trainer.pipeline(Files(**files))
    batches = Batches(open_packed(files["root"]), program, files["transforms"], files["seed"])
    return PackedStream(trainer, batches, files["threads"])


def measure_fed(trainer, stream, settings, emit, clock=time.perf_counter):
    """Measure as any run is, then tell how fast it would compute without loading, and load without computing; and
    what a pipeline notes of itself."""
    try:
        stream.feed()
        fed = Fed(trainer, stream)
        measure(fed, settings, emit, clock)
        turns = _turns(trainer, fed, settings.block_s, clock)
        compute_s = median([without for without, _ in turns])
        phases = _phases(trainer, stream, settings.block_s, clock)
        emit("phases", notes=stream.notes, turns=turns, compute_s=compute_s, **phases)
    finally:
        stream.close()


def _turns(trainer, fed, block_s, clock):
    """Seconds of a step without and with feeding, in turns: what feeding costs where loading keeps up. Where it does
    not, what was loaded meanwhile makes the turns with feeding look better than they are."""
    counts = [_count(each.step, trainer.wait, block_s, clock) for each in (trainer, fed)]
    return [
        [_time(each.step, trainer.wait, steps, clock) / steps for each, steps in zip((trainer, fed), counts)]
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
            times.append(_time(functions[name], trainer.wait, steps, clock) / steps)
        loaded += steps * BLOCKS
    after = stream.seconds()
    told = {name: median(times) for name, times in found.items()}
    told["loader"] = {name: (after[name] - before[name]) / max(loaded, 1) for name in after if name != "wait_s"}
    return told


def _count(function, wait, block_s, clock):
    """How many calls fill a block, after a first one that is not counted."""
    _time(function, wait, 1, clock)
    calls, seconds = 1, _time(function, wait, 1, clock)
    while seconds < block_s / 2 and calls < 100000:
        calls = min(10 * calls, max(calls + 1, int(calls * block_s / max(seconds, 1e-9))))
        seconds = _time(function, wait, calls, clock)
    return calls


def _time(function, wait, calls, clock):
    start = clock()
    for _ in range(calls):
        function()
    wait()
    return clock() - start
