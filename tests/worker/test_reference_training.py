"""Does the reference train as a graph says: updates, optimizers, state, draws, reads that change nothing?"""

import math
import unittest

import numpy as np
from small_programs import CASES, Sketch, job_for, start

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.contract import Unsupported

BOTH = ("network/residual in primitives", "network/adversarial")


class Optimizers(unittest.TestCase):
    """All minimise (p - 1)² from p = 3, whose gradient is 2 (p - 1)."""

    def test_sgd_moves_against_the_gradient(self):
        self._check({"kind": "sgd", "learning_rate": 0.25}, [2.0, 1.5, 1.25])

    def test_momentum_adds_the_gradient_to_a_decayed_velocity(self):
        # v: 4, 0.5*4 + 3 = 5, 0.5*5 + 0.5 = 3
        self._check({"kind": "momentum", "learning_rate": 0.125, "momentum": 0.5}, [2.5, 1.875, 1.34375])

    def test_adam_corrects_its_bias_and_adds_epsilon_outside_the_root(self):
        rule = {"kind": "adam", "learning_rate": 0.5, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.1}
        p, first, second, expected = 3.0, 0.0, 0.0, []
        for corrected1, corrected2 in ((0.5, 0.25), (0.75, 0.4375), (0.875, 0.578125)):
            gradient = 2 * (p - 1)
            first, second = 0.5 * first + 0.5 * gradient, 0.75 * second + 0.25 * gradient**2
            p -= 0.5 * (first / corrected1) / (math.sqrt(second / corrected2) + 0.1)
            expected.append(p)
        self.assertAlmostEqual(expected[0], 3 - 0.5 * 4 / 4.1)
        self._check(rule, expected)

    def _check(self, rule, expected):
        trainer = start(reference, _parabola(rule))
        found = []
        for _ in range(3):
            trainer.step()
            found.append(float(trainer.read("parameters")["p"][0, 0]))
        np.testing.assert_allclose(found, expected, 1e-12)


class Updates(unittest.TestCase):
    def test_each_update_moves_only_its_own_group(self):
        wire = dict(CASES["network/adversarial"])
        wire["stages"] = [dict(wire["stages"][0], updates=wire["stages"][0]["updates"][:1])]
        trainer = start(reference, wire)
        before = trainer.read("parameters")
        trainer.step()
        after = trainer.read("parameters")
        np.testing.assert_array_equal(after["maker.weight"], before["maker.weight"])
        self.assertTrue(np.all(after["judge.weight"] != before["judge.weight"]))

    def test_a_later_update_sees_what_an_earlier_one_left(self):
        # First p moves: p = 3 -> 3 - 0.25 * 2 * (3 - 1) = 2; then q follows p: q = 0 -> 0 - 0.25 * 2 * (0 - 2) = 1.
        trainer = start(reference, _chase())
        trainer.step()
        parameters = trainer.read("parameters")
        self.assertEqual((float(parameters["p"][0, 0]), float(parameters["q"][0, 0])), (2.0, 1.0))
        self.assertEqual(trainer.read("losses"), {"first": 4.0, "second": 4.0})

    def test_losses_are_those_before_the_update_and_fall(self):
        trainer = start(reference, CASES["network/residual in primitives"])
        expected = float(trainer.read("outputs")["loss"])
        trainer.step()
        self.assertEqual(trainer.read("losses"), {"train": expected})
        for _ in range(30):
            trainer.step()
        self.assertLess(trainer.read("losses")["train"], 0.5 * expected)

    def test_tied_weights_add_up_their_gradients(self):
        # y = (x w) w with x = 2, w = 3, target 0: d(y²)/dw = 2 * 18 * 2 * 2 * 3
        sketch = Sketch()
        sketch.input("x", [1, 1], 2.0, 2.0)
        sketch.input("target", [1, 1], 0.0, 0.0)
        sketch.parameter("w", [1, 1], 3.0, 3.0)
        sketch.node("once", "linear", ["x", "w"], [1, 1])
        sketch.node("twice", "linear", ["once", "w"], [1, 1])
        _squared(sketch, "twice")
        trainer = start(reference, sketch.wire("twice"))
        self.assertEqual(float(trainer.read("gradients")["train/w"][0, 0]), 432.0)

    def test_stop_gradient_halves_the_gradient_of_a_square(self):
        stopped = start(reference, CASES["stop_gradient/half"]).read("gradients")["train/x"]
        whole = start(reference, CASES["multiply/one_value_twice"]).read("gradients")["train/x"]
        np.testing.assert_allclose(2 * stopped, whole)

    def test_a_parameter_behind_stop_gradient_has_a_gradient_of_zero(self):
        sketch = Sketch()
        sketch.parameter("p", [1, 1], 3.0, 3.0)
        sketch.input("target", [1, 1], 1.0, 1.0)
        sketch.node("stopped", "stop_gradient", ["p"], [1, 1])
        _squared(sketch, "stopped")
        gradients = start(reference, sketch.wire("stopped")).read("gradients")
        np.testing.assert_array_equal(gradients["train/p"], [[0.0]])


class State(unittest.TestCase):
    def test_running_statistics_move_towards_the_batch(self):
        for case in ("batch_norm/matrix", "batch_norm/images"):
            trainer = start(reference, CASES[case])
            x = trainer.read("parameters")["x"]
            trainer.step()
            after = trainer.read("parameters")
            axes = (0, *tuple(range(2, x.ndim)))
            np.testing.assert_allclose(after["norm.running_mean"], 0.1 * x.mean(axis=axes))
            np.testing.assert_allclose(after["norm.running_variance"], 0.9 + 0.1 * x.var(axis=axes, ddof=1))

    def test_running_statistics_move_once_per_update(self):
        wire = dict(CASES["batch_norm/matrix"])
        (update,) = wire["stages"][0]["updates"]
        still = dict(update["optimizer"], learning_rate=1e-30)
        updates = [dict(update, name=name, optimizer=still) for name in ("train", "again")]
        wire["stages"] = [{"name": "train", "updates": updates}]
        trainer = start(reference, wire)
        mean = trainer.read("parameters")["x"].mean(axis=0)
        trainer.step()
        np.testing.assert_allclose(trainer.read("parameters")["norm.running_mean"], 0.19 * mean)


class Reads(unittest.TestCase):
    def test_training_does_not_depend_on_what_was_read(self):
        for case in BOTH:
            quiet, watched = start(reference, CASES[case]), start(reference, CASES[case])
            for _ in range(3):
                for what in ("outputs", "gradients", "parameters", "losses"):
                    for array in watched.read(what).values():
                        if isinstance(array, np.ndarray):
                            array[...] = 0
                quiet.step()
                watched.step()
            _assert_same(quiet.read("parameters"), watched.read("parameters"))

    def test_reading_twice_gives_the_same_even_where_values_are_drawn(self):
        trainer = start(reference, _drawing("dropout", rate=0.5))
        _assert_same(trainer.read("outputs"), trainer.read("outputs"))

    def test_a_caller_may_reuse_its_batch(self):
        wire = CASES["network/sgd"]
        job = job_for(wire)
        batch = {i.name: np.ones(i.shape, np.float32) for i in job.program.inputs}
        trainer = reference.build(job)
        trainer.feed(batch)
        before = trainer.read("outputs")
        batch["x"][...] = 5.0
        _assert_same(before, trainer.read("outputs"))


class Draws(unittest.TestCase):
    def test_dropout_keeps_its_share_and_its_mean(self):
        y = start(reference, _drawing("dropout", rate=0.25)).read("outputs")["y"]
        self.assertEqual(sorted(np.unique(y)), [0.0, 0.5 / 0.75])
        self.assertAlmostEqual(np.mean(y > 0), 0.75, delta=0.02)

    def test_the_gradient_passes_where_dropout_kept(self):
        trainer = start(reference, _drawing("dropout", rate=0.25))
        gradient = trainer.read("gradients")["train/x"]
        np.testing.assert_array_equal(gradient != 0, trainer.read("outputs")["y"] != 0)

    def test_bernoulli_draws_ones_with_the_given_probability(self):
        y = start(reference, _drawing("bernoulli")).read("outputs")["y"]
        self.assertEqual(sorted(np.unique(y)), [0.0, 1.0])
        self.assertAlmostEqual(np.mean(y), 0.5, delta=0.02)

    def test_normal_has_mean_zero_and_deviation_one(self):
        y = start(reference, _drawing("normal", shape=[100, 100])).read("outputs")["y"]
        self.assertAlmostEqual(np.mean(y), 0.0, delta=0.05)
        self.assertAlmostEqual(np.std(y), 1.0, delta=0.05)

    def test_draws_are_new_each_step_and_follow_the_seed(self):
        for wire in (_drawing("dropout", rate=0.5), _drawing("normal", shape=[100, 100])):
            trainer = start(reference, wire)
            values = trainer.read("outputs")["y"]
            trainer.step()
            self.assertFalse(np.allclose(values, trainer.read("outputs")["y"]))
            repeated, other = start(reference, wire), start(reference, wire, seed=8)
            np.testing.assert_array_equal(values, repeated.read("outputs")["y"])
            self.assertFalse(np.allclose(values, other.read("outputs")["y"]))


class Refusals(unittest.TestCase):
    def test_several_stages_are_refused_by_name(self):
        wire = dict(CASES["network/sgd"])
        wire["stages"] = [dict(wire["stages"][0], name=name) for name in ("first", "second")]
        with self.assertRaisesRegex(Unsupported, "one stage, received first, second"):
            start(reference, wire)

    def test_other_devices_and_precisions_are_refused_with_a_reason(self):
        for change in ({"device": "cuda"}, {"precision": "float16"}):
            with self.assertRaisesRegex(Unsupported, "received"):
                start(reference, CASES["network/sgd"], **change)

    def test_any_execution_is_the_same(self):
        trainer = start(reference, CASES["network/sgd"], execution="compiled")
        self.assertEqual(trainer.read("outputs")["y"].dtype, np.float64)


def _parabola(rule):
    sketch = Sketch()
    sketch.parameter("p", [1, 1], 3.0, 3.0)
    sketch.input("target", [1, 1], 1.0, 1.0)
    _squared(sketch, "p", rule)
    return sketch.wire("loss")


def _chase():
    """p moves towards 1, then q towards p."""
    rule = {"kind": "sgd", "learning_rate": 0.25}
    sketch = Sketch()
    sketch.parameter("p", [1, 1], 3.0, 3.0)
    sketch.parameter("q", [1, 1], 0.0, 0.0)
    sketch.input("target", [1, 1], 1.0, 1.0)
    sketch.node("first.loss", "mean_squared_error", ["p", "target"], [])
    sketch.node("second.loss", "mean_squared_error", ["q", "p"], [])
    sketch.update("first.loss", rule, ["p"], name="first")
    sketch.update("second.loss", rule, ["q"], name="second")
    return sketch.wire("first.loss")


def _drawing(op, **attributes):
    """10 000 draws, from values of 0.5 where the op takes any, added to a parameter where it has no gradient."""
    sketch = Sketch()
    sketch.parameter("x", [100, 100], 0.5, 0.5)
    sketch.input("target", [100, 100], 1.0, 1.0)
    inputs = [] if op == "normal" else ["x"]
    sketch.node("y", op, inputs, [100, 100], seed=3, **attributes)
    sketch.node("sum", "add", ["y", "x"], [100, 100])
    _squared(sketch, "y" if op == "dropout" else "sum")
    return sketch.wire("y")


def _squared(sketch, value, rule=None):
    sketch.node("loss", "mean_squared_error", [value, "target"], [])
    sketch.update("loss", rule or {"kind": "sgd", "learning_rate": 0.25})


def _assert_same(left, right):
    assert sorted(left) == sorted(right)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])


if __name__ == "__main__":
    unittest.main()
