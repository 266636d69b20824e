"""Does training on files learn, stop at the goal, report the right times, and end where a loss breaks?"""

import math
import os
import shutil
import tempfile
import unittest
from collections import Counter

import numpy as np
from packing import numbered, pack
from sketch import MOMENTUM, Sketch

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.evaluator import Evaluator, Reading, Score, evaluate, folded_values
from netdyno_worker.feed.packed import open_packed
from netdyno_worker.feed.sources import Batches
from netdyno_worker.program import read_program
from netdyno_worker.tasks import learn
from netdyno_worker.tasks.learn import CHECK_EVERY, Learning, Plan, open_plan, train_to_goal

RULE = {"mean": [0.5], "std": [0.5], "crop": None, "pad": 0, "flip": False}
PLAN = {"transforms": RULE, "steps": 40, "epochs": None, "evaluate_every": 0, "until": None}
PLAN.update(
    loading_threads=2, logits="y", losses=[], scores={}, evaluation=None, before=[], labelled=None, pictures=None
)
LOGITS = Reading("y", [], {})


def classifier(batch=8):
    """A linear one of 4x4 images."""
    sketch = Sketch()
    sketch.input("images", [batch, 1, 4, 4], kind="normal")
    sketch.input("labels", [batch], 0, 3, "integers")
    sketch.parameter("weight", [3, 16], 0.0, 0.0)
    sketch.parameter("bias", [3], 0.0, 0.0)
    sketch.node("flat", "flatten", ["images"], [batch, 16])
    sketch.node("y", "linear", ["flat", "weight", "bias"], [batch, 3])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y")


def striped(count, seed):
    """Noise in which the row of the image's class is brighter."""
    state = np.random.RandomState(seed)
    labels = state.randint(0, 3, size=count)
    images = state.randint(0, 150, size=(count, 4, 4, 1))
    images[np.arange(count), labels] += 100
    return images, labels


class FakeTrainer(object):
    """Takes a second to be fed and two to step, once it is waited for."""

    def __init__(self, loss=lambda steps: 1.0):
        self.now, self.steps, self._pending, self._loss = 0.0, 0, 0.0, loss

    def clock(self):
        return self.now

    def feed(self, batch):
        self._pending += 1.0

    def step(self):
        self.steps += 1
        self._pending += 2.0

    def wait(self):
        self.now, self._pending = self.now + self._pending, 0.0

    def read(self, what):
        assert what == "losses"
        return {"train": self._loss(self.steps)}


class FakeEvaluator(object):
    """Takes an hour; of a hundred images as many are right as steps were made."""

    loss = 0.5

    def score(self, trainer):
        trainer.now += 3600.0
        return Score(trainer.steps, 100, self.loss, {})


class FakeLoader(object):
    def take(self):
        return {}

    def seconds(self):
        return {"wait_s": 0.0}


class FakeBatches(object):
    size, count = 5, 40


def run(trainer, evaluator=None, **changes):
    events = []
    emit = lambda event, **fields: events.append((event, fields))  # noqa: E731
    plan = Plan(FakeBatches(), 1, 20, 0, None)._replace(**changes)
    learning = Learning(FakeLoader(), plan.batches, emit, trainer.clock)
    train_to_goal(trainer, plan, evaluator or FakeEvaluator(), learning)
    return events


def fields_of(events, name):
    return [fields for event, fields in events if event == name]


class Loop(unittest.TestCase):
    def test_it_evaluates_at_every_interval_and_at_the_end(self):
        events = run(FakeTrainer(), evaluate_every=8)
        self.assertEqual([fields["step"] for fields in fields_of(events, "evaluation")], [8, 16, 20])

    def test_without_an_interval_it_evaluates_once(self):
        events = run(FakeTrainer())
        self.assertEqual([fields["step"] for fields in fields_of(events, "evaluation")], [20])
        self.assertEqual(fields_of(events, "evaluation")[0]["epoch"], 2.5)

    def test_it_stops_where_the_wanted_accuracy_is_reached(self):
        trainer = FakeTrainer()
        events = run(trainer, evaluate_every=4, until=0.1)
        self.assertEqual([fields["accuracy"] for fields in fields_of(events, "evaluation")], [0.04, 0.08, 0.12])
        self.assertEqual((trainer.steps, fields_of(events, "trained")[0]["steps"]), (12, 12))

    def test_seconds_of_training_leave_evaluations_out_and_wall_seconds_do_not(self):
        events = run(FakeTrainer(), evaluate_every=10)
        seconds = [(fields["train_s"], fields["wall_s"]) for fields in fields_of(events, "evaluation")]
        self.assertEqual(seconds, [(30.0, 3630.0), (60.0, 7260.0)])
        self.assertEqual(fields_of(events, "evaluation")[0]["evaluate_s"], 3600.0)
        trained = fields_of(events, "trained")[0]
        self.assertEqual((trained["train_s"], trained["wall_s"], trained["items"]), (60.0, 7260.0, 100))

    def test_the_first_step_is_told_apart(self):
        self.assertEqual(fields_of(run(FakeTrainer()), "first_step"), [{"seconds": 3.0}])

    def test_a_loss_that_is_no_number_ends_it_at_the_next_look(self):
        trainer = FakeTrainer(lambda steps: 1.0 if steps < 3 else float("nan"))
        with self.assertRaisesRegex(ValueError, "finite loss 'train', received nan"):
            run(trainer, steps=10 * CHECK_EVERY)
        self.assertEqual(trainer.steps, CHECK_EVERY)

    def test_so_does_one_on_the_test_split(self):
        evaluator = FakeEvaluator()
        evaluator.loss = math.inf
        with self.assertRaisesRegex(ValueError, "test split"):
            run(FakeTrainer(), evaluator, evaluate_every=4)


class WithFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.paths = {split: os.path.join(self.folder, split + ".packed") for split in ("train", "test")}

    def tearDown(self):
        shutil.rmtree(self.folder)


class Plans(WithFiles):
    def test_an_epoch_is_as_many_steps_as_see_every_image(self):
        pack(self.paths["train"], *numbered(20))
        plan = dict(PLAN, steps=None, epochs=2, **self.paths)
        self.assertEqual(open_plan(plan, read_program(classifier()), 1).steps, 5)

    def test_fewer_images_than_a_batch_are_refused(self):
        pack(self.paths["train"], *numbered(7))
        with self.assertRaisesRegex(ValueError, "at least a batch of 8 items, received 7"):
            open_plan(dict(PLAN, **self.paths), read_program(classifier()), 1)


class Evaluation(WithFiles):
    def test_every_image_counts_once_however_the_last_batch_is_filled(self):
        pack(self.paths["test"], *numbered(11))
        batches = Batches(open_packed(self.paths["test"]), read_program(classifier()), dict(RULE, mean=[0.0]))
        asked = _Clairvoyant(wrong=3)
        score = evaluate(asked, batches, 2, LOGITS)
        self.assertEqual((score.correct, score.count, asked.fed), (8, 11, 2))
        right, wrong = math.log(1 + 2 * math.exp(-5.0)), 5.0 + math.log(1 + 2 * math.exp(-5.0))
        self.assertAlmostEqual(score.loss, (8 * right + 3 * wrong) / 11)

    def test_another_graph_is_built_from_the_current_parameters_each_time(self):
        pack(self.paths["test"], *numbered(11))
        batches = Batches(open_packed(self.paths["test"]), read_program(classifier()), dict(RULE, mean=[0.0]))
        asked = []

        def build_other(parameters, number):
            asked.append((parameters, number))
            return _Clairvoyant(wrong=number)

        evaluator = Evaluator(batches, 1, LOGITS, build_other)
        scores = [evaluator.score(_Known(value)).correct for value in (5, 6)]
        self.assertEqual((scores, asked), ([10, 9], [({"p": 5}, 1), ({"p": 6}, 2)]))

    def test_a_batch_norm_is_folded_into_the_map_before_it(self):
        row = {"gamma": "g", "beta": "b", "mean": "m", "variance": "v", "epsilon": 1.0, "weight": "w", "bias": "c"}
        row.update(old_weight="ow", old_bias="oc")
        parameters = {"g": [2.0, 6.0], "b": [1.0, 0.5], "m": [4.0, -2.0], "v": [3.0, 8.0], "oc": [1.0, 2.0]}
        parameters["ow"] = np.arange(6.0).reshape(2, 3, 1, 1)
        found = folded_values([row], parameters, {"w": (2, 3, 1, 1)})
        np.testing.assert_array_equal(found["w"].ravel(), [0, 1, 2, 6, 8, 10])
        np.testing.assert_array_equal(found["c"], [-2.0, 8.5])
        self.assertEqual((found["w"].dtype, found["w"].shape), (np.float32, (2, 3, 1, 1)))

    def test_one_that_follows_no_map_becomes_its_own(self):
        row = {"gamma": "g", "beta": "b", "mean": "m", "variance": "v", "epsilon": 1.0, "weight": "w", "bias": "c"}
        row.update(old_weight=None, old_bias=None)
        parameters = {"g": [2.0, 6.0], "b": [1.0, 0.5], "m": [4.0, -2.0], "v": [3.0, 8.0]}
        for shape in ((2, 2), (2, 2, 1, 1)):
            found = folded_values([row], parameters, {"w": shape})
            np.testing.assert_array_equal(found["w"], np.reshape([1, 0, 0, 2], shape))
            np.testing.assert_array_equal(found["c"], [-3.0, 4.5])


class Task(WithFiles):
    def test_a_network_learns_from_files(self):
        events = self._learn()
        self.assertGreater(fields_of(events, "evaluation")[-1]["accuracy"], 0.9)
        self.assertEqual(fields_of(events, "evaluation")[-1]["count"], 61)
        names = Counter(name for name, _ in events)
        once = ("built", "first_step", "evaluation", "trained", "memory")
        self.assertEqual(names, dict(dict.fromkeys(once, 1), loss=2))

    def test_it_is_the_same_training_every_time_and_another_with_another_seed(self):
        losses = [fields_of(self._learn(seed=seed), "evaluation")[0]["loss"] for seed in (1, 1, 2)]
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])

    def test_evaluating_often_changes_nothing_in_training(self):
        once, often = self._learn(), self._learn(evaluate_every=3)
        last = [fields_of(events, "evaluation")[-1]["loss"] for events in (once, often)]
        self.assertEqual(last[0], last[1])
        self.assertEqual(len(fields_of(often, "evaluation")), 14)

    def test_it_begins_with_what_earlier_stages_have_learnt(self):
        before = [{"programme": classifier(), "epochs": 2}]
        alone, after = self._learn(steps=2), self._learn(steps=2, before=before)
        (stage,) = fields_of(after, "stage")
        self.assertEqual(stage["steps"], 75)
        first, later = (fields_of(events, "loss")[0]["losses"]["train"] for events in (alone, after))
        self.assertLess(later, 0.5 * first)
        weights = [fields_of(events, "built")[0]["weights"] for events in (alone, after)]
        self.assertNotEqual(*weights)

    def test_only_items_with_labels_are_learnt_from(self):
        few = fields_of(self._learn(steps=None, epochs=1, labelled=80), "trained")[0]
        self.assertEqual(few["steps"], 10)

    def _learn(self, seed=1, **changes):
        pack(self.paths["train"], *striped(300, 1))
        pack(self.paths["test"], *striped(61, 2))
        events = []
        request = {"device": "cpu", "precision": "float32", "execution": "eager", "threads": 1, "seed": seed}
        request.update(programme=classifier(), plan=dict(PLAN, **dict(self.paths, **changes)))
        learn.run(reference, request, lambda event, **fields: events.append((event, fields)))
        return events


class _Known(object):
    """Reads as it was told."""

    def __init__(self, value):
        self._value = value

    def read(self, what):
        return {"p": self._value} if what == "parameters" else None


class _Clairvoyant(object):
    """Knows an image's label by its number, and is wrong about the first few."""

    def __init__(self, wrong):
        self.fed, self._wrong, self._batch = 0, wrong, None

    def feed(self, batch):
        self.fed += 1
        self._batch = batch

    def read(self, what):
        assert what == "outputs"
        numbers = np.rint(self._batch["images"][:, 0, 0, 0] * 0.5 * 255).astype(int)
        answers = np.where(numbers < self._wrong, numbers + 1, numbers) % 3
        return {"y": 5.0 * np.eye(3)[answers]}


if __name__ == "__main__":
    unittest.main()
