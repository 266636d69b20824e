"""The measuring loop against a trainer whose time is made up."""

import unittest

from netdyno_worker.tasks.train import measure
from netdyno_worker.timing import ALONE, Timing


class FakeTrainer(object):
    """Advances a clock by what `step_s(number of the step)` says."""

    def __init__(self, step_s, losses=None):
        self.now = 0.0
        self.steps = 0
        self.waits = 0
        self._step_s = step_s
        self._pending = 0.0
        self._losses = losses or (lambda steps: 1.0 / steps)

    def clock(self):
        return self.now

    def step(self):
        self.steps += 1
        self._pending += self._step_s(self.steps)

    def wait(self):
        self.waits += 1
        self.now += self._pending
        self._pending = 0.0

    def read(self, what):
        assert what == "losses"
        return {"train": self._losses(self.steps)}

    def forget_peak(self):
        self.forgotten_at = self.steps

    def peak_bytes(self):
        return 3

    def reserved_bytes(self):
        return 4

    def stages(self):
        return None


def run(trainer, **changes):
    timing = {
        "block_s": 0.1,
        "warmup_cap_s": 10.0,
        "seconds": 10.0,
        "target": 0.005,
        "least_blocks": 10,
        "steps": 0,
        "split": False,
    }
    timing.update(changes)
    events = []
    measure(trainer, Timing(**timing), lambda event, **fields: events.append((event, fields)), trainer.clock)
    return events


def fields_of(events, name):
    return [fields for event, fields in events if event == name]


class MeasureTest(unittest.TestCase):
    def test_a_steady_trainer_is_measured_at_its_speed_and_ends_before_the_cap(self):
        trainer = FakeTrainer(lambda step: 0.01)
        samples = fields_of(run(trainer), "sample")
        self.assertEqual(len(samples), 10)
        for sample in samples:
            self.assertAlmostEqual(sample["seconds"] / sample["steps"], 0.01)

    def test_as_many_steps_are_timed_as_wanted_sure_or_not(self):
        samples = fields_of(run(FakeTrainer(lambda step: 0.01), steps=938), "sample")
        self.assertEqual(sum(sample["steps"] for sample in samples), 938)

    def test_wanted_steps_end_when_the_time_is_up(self):
        samples = fields_of(run(FakeTrainer(lambda step: 0.01), steps=10**6, seconds=1.0), "sample")
        self.assertLess(sum(sample["steps"] for sample in samples), 200)

    def test_the_first_step_is_told_apart_and_enters_no_sample(self):
        trainer = FakeTrainer(lambda step: 30.0 if step == 1 else 0.01)
        events = run(trainer)
        self.assertAlmostEqual(fields_of(events, "first_step")[0]["seconds"], 30.0)
        self.assertTrue(all(s["seconds"] / s["steps"] < 0.011 for s in fields_of(events, "sample")))

    def test_warm_up_lasts_until_the_speed_has_settled(self):
        trainer = FakeTrainer(lambda step: 0.01 * (1 + 2 * 0.97**step))
        events = run(trainer)
        self.assertTrue(fields_of(events, "warmup")[0]["steady"])
        self.assertTrue(all(s["seconds"] / s["steps"] < 0.011 for s in fields_of(events, "sample")))

    def test_a_warm_up_that_never_settles_is_cut_at_its_cap_and_said(self):
        trainer = FakeTrainer(lambda step: 0.01 * 1.02**step)
        events = run(trainer, warmup_cap_s=2.0, seconds=1.0)
        self.assertFalse(fields_of(events, "warmup")[0]["steady"])
        self.assertTrue(fields_of(events, "sample"))

    def test_a_second_step_that_compiles_again_does_not_decide_how_long_a_block_is(self):
        events = run(FakeTrainer(lambda step: 6.0 if step <= 2 else 0.01), warmup_cap_s=3.0)
        self.assertFalse(fields_of(events, "warmup")[0]["steady"])
        self.assertLessEqual({s["steps"] for s in fields_of(events, "sample")}, {10, 11})

    def test_a_block_fills_its_time_and_waits_once(self):
        trainer = FakeTrainer(lambda step: 0.001)
        events = run(trainer)
        self.assertEqual({s["steps"] for s in fields_of(events, "sample")}, {100})
        blocks = 1 + len(fields_of(events, "warmup")[0]["blocks"]) + len(fields_of(events, "sample")) + ALONE
        self.assertEqual(trainer.waits, blocks)

    def test_a_step_longer_than_a_block_makes_a_block_of_one(self):
        events = run(FakeTrainer(lambda step: 3.0), seconds=12.0, warmup_cap_s=5.0)
        self.assertEqual({s["steps"] for s in fields_of(events, "sample")}, {1})
        self.assertEqual(len(fields_of(events, "sample")), 4)

    def test_noise_is_measured_longer_and_ends_at_the_cap(self):
        trainer = FakeTrainer(lambda step: 0.1 * (1 + (step * 7919 % 100) / 200.0))
        events = run(trainer, seconds=5.0)
        total = sum(s["seconds"] for s in fields_of(events, "sample"))
        self.assertTrue(5.0 <= total < 5.5, total)

    def test_the_loss_is_told_at_both_ends_and_memory_at_the_end(self):
        events = run(FakeTrainer(lambda step: 0.01))
        losses = fields_of(events, "loss")
        self.assertEqual([loss["when"] for loss in losses], ["first", "last"])
        self.assertEqual(losses[0]["losses"], {"train": 1.0})
        self.assertLess(losses[1]["losses"]["train"], 0.1)
        self.assertGreater(fields_of(events, "memory")[0]["host_peak_bytes"], 1000000)

    def test_a_step_that_costs_nothing_ends_all_the_same(self):
        trainer = FakeTrainer(lambda step: 1e-9)
        events = run(trainer, block_s=1e-4)
        self.assertTrue(all(s["steps"] <= 1000000 for s in fields_of(events, "sample")))


if __name__ == "__main__":
    unittest.main()
