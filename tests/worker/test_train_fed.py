"""Is every step of a run on real data fed, and are loading and computing told apart?"""

import time
import unittest

from netdyno_worker.feed.stream import Fed
from netdyno_worker.tasks.train import measure_fed
from netdyno_worker.timing import Timing

TIMING = Timing(0.01, 0.2, 0.1, 0.5, 6, 0, False)


class Clock(object):
    """Time that passes only where someone works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Trainer(object):
    def __init__(self, clock):
        self.clock = clock
        self.told = []

    def step(self):
        self.told.append("step")
        self.clock.now += 0.002

    def wait(self):
        pass

    def read(self, what):
        return {"train": float(len(self.told))}

    def forget_peak(self):
        self.told.append("forget")

    def peak_bytes(self):
        return 7

    def reserved_bytes(self):
        return 8


class Stream(object):
    def __init__(self, trainer, seconds):
        self.trainer, self.load_s = trainer, seconds
        self.closed = False
        self.loaded_s = 0.0
        self.notes = {"order": "as it lies"}

    def feed(self):
        self.skip()
        self.trainer.told.append("feed")

    def skip(self):
        self.trainer.clock.now += self.load_s
        self.loaded_s += self.load_s

    def seconds(self):
        return {"read_s": self.loaded_s, "wait_s": 99.0}

    def close(self):
        self.closed = True


class MeasuredFed(unittest.TestCase):
    def measured(self, load_s):
        clock = Clock()
        trainer = Trainer(clock)
        stream = Stream(trainer, load_s)
        events = []
        measure_fed(trainer, stream, TIMING, lambda event, **fields: events.append((event, fields)), clock)
        return trainer, stream, events

    def test_no_step_is_made_without_a_batch_of_its_own(self):
        trainer, _, events = self.measured(0.004)
        names = [name for name, _ in events]
        told = [word for word in trainer.told if word != "forget"]
        timed = told[: 2 * sum(fields["steps"] for name, fields in events if name == "sample")]
        self.assertEqual(timed[:2], ["feed", "feed"])  # one to begin with
        pairs = [timed[place : place + 2] for place in range(1, len(timed) - 1, 2)]
        self.assertEqual([pair for pair in pairs if pair != ["feed", "step"]], [])
        self.assertEqual(names[-1], "phases")

    def test_loading_and_computing_are_told_apart(self):
        _, stream, events = self.measured(0.004)
        phases = dict(events)["phases"]
        self.assertAlmostEqual(phases["compute_s"], 0.002)
        self.assertAlmostEqual(phases["load_s"], 0.004)
        self.assertAlmostEqual(phases["feed_s"], 0.004)
        self.assertEqual(set(phases["loader"]), {"read_s"})
        for without, fed in phases["turns"]:
            self.assertAlmostEqual(without, 0.002)
            self.assertAlmostEqual(fed, 0.006)
        self.assertEqual(phases["notes"], {"order": "as it lies"})
        self.assertTrue(stream.closed)

    def test_a_sample_has_both(self):
        _, _, events = self.measured(0.004)
        samples = [fields for name, fields in events if name == "sample"]
        for sample in samples:
            self.assertAlmostEqual(sample["seconds"] / sample["steps"], 0.006)

    def test_asking_is_timed_without_loading(self):
        _, _, events = self.measured(0.004)
        self.assertAlmostEqual(dict(events)["launch"]["asked_s"], 0.002)

    def test_a_stream_is_closed_whatever_happens(self):
        trainer = Trainer(time.perf_counter)
        stream = Stream(trainer, 0.0)
        stream.feed = lambda: 1 / 0
        with self.assertRaises(ZeroDivisionError):
            measure_fed(trainer, stream, TIMING, lambda event, **fields: None)
        self.assertTrue(stream.closed)

    def test_memory_is_the_trainers(self):
        fed = Fed(Trainer(Clock()), None)
        self.assertEqual((fed.peak_bytes(), fed.reserved_bytes(), fed.stages()), (7, 8, None))
