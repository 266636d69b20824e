"""What feeds a trainer with real data, step by step: the worker's own loader, or the framework's pipeline."""

from netdyno_worker.contract import Files
from netdyno_worker.feed.loader import Loader
from netdyno_worker.feed.sources import open_source


class Fed(object):
    """A trainer whose every step takes its own batch; everything else is the trainer's."""

    def __init__(self, trainer, stream):
        self.alone = trainer
        self._stream = stream

    def step(self):
        self._stream.feed()
        self.alone.step()

    def stages(self):
        """None: a part of a step would have to be fed too."""
        return None

    def __getattr__(self, name):
        return getattr(self.alone, name)


class PackedStream(object):
    """The worker's own loader, the same in every framework."""

    notes = {}  # of a framework's pipeline: how it differs from this one

    def __init__(self, trainer, batches, threads):
        self._trainer = trainer
        self._loader = Loader(batches, threads)

    def feed(self):
        self._trainer.feed(self._loader.take())

    def skip(self):
        self._loader.take()

    def seconds(self):
        """{stage: seconds so far, of all threads}, and `wait_s` of the thread that waits for a batch."""
        return self._loader.seconds()

    def close(self):
        self._loader.stop()


def open_stream(trainer, program, files):
    """The stream over a request's files."""
    if files["format"] != "packed":
        return trainer.pipeline(Files(**files))
    batches = open_source(files["root"], program, files["transforms"], files["seed"])
    return PackedStream(trainer, batches, files["threads"])
