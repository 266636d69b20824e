"""How well does it learn? Train on real data, stop the clock, evaluate the test split, go on until the goal."""

import gc
import math
import time
from collections import namedtuple

import numpy as np

from netdyno_worker.build import build, emit_memory, job_of
from netdyno_worker.evaluator import Evaluator, Reading, folded_values
from netdyno_worker.feed.loader import Loader
from netdyno_worker.feed.sources import open_source
from netdyno_worker.feed.weights import Weights
from netdyno_worker.pictures import emit_pictures
from netdyno_worker.program import read_program, shapes

CHECK_EVERY = 1000  # steps between looks at the loss: each look waits for the device

# batches: of the training split. threads: that load. steps: the most. evaluate_every: steps; 0 for the last one only.
# until: the accuracy that is enough, or None.
Plan = namedtuple("Plan", "batches threads steps evaluate_every until")


def run(adapter, request, emit):
    """Files are opened and checked before anything is built."""
    asked, program = request["plan"], read_program(request["programme"])
    plan = open_plan(asked, program, request["seed"])
    test = open_source(asked["test"], program, asked["transforms"])
    builder = _evaluation_builder(adapter, request)
    reading = Reading(asked["logits"], asked["losses"], asked["scores"])
    evaluator = Evaluator(test, asked["loading_threads"], reading, builder)
    earlier = learn_earlier(adapter, request, emit)
    trainer, _ = build(adapter, request, request, emit, Weights(program, request["seed"], given=earlier))
    learn(trainer, plan, evaluator, emit)
    if asked["pictures"]:
        parameters = trainer.read("parameters")
        del trainer  # its memory is free for the graph that draws
        gc.collect()
        emit_pictures(adapter, request, parameters, test, emit)


def learn_earlier(adapter, request, emit):
    """{parameter: value} after the stages that come before, each of which begins with those of the one before it."""
    asked, values = request["plan"], {}
    for stage in asked["before"]:
        program = read_program(stage["programme"])
        source = open_source(asked["train"], program, asked["transforms"], request["seed"])
        weights = Weights(program, request["seed"], given=values)
        trainer = adapter.build(job_of(request, program, weights.initial))
        steps, start = _steps(stage["epochs"], source), time.perf_counter()
        loader = Loader(source, asked["loading_threads"])
        try:
            for _ in range(steps):
                trainer.feed(loader.take())
                trainer.step()
            trainer.wait()
        finally:
            loader.stop()
        losses = trainer.read("losses")
        emit("stage", steps=steps, seconds=time.perf_counter() - start, losses=losses)
        _expect_finite(losses, steps)
        values.update((name, np.array(value, np.float32)) for name, value in trainer.read("parameters").items())
    return values


def _steps(epochs, source):
    return int(math.ceil(epochs * source.count / float(source.size)))


def open_plan(asked, program, seed):
    """The plan that is requested, with its training split opened and checked."""
    batches = open_source(asked["train"], program, asked["transforms"], seed, asked["labelled"])
    if batches.count < batches.size:
        raise ValueError(
            "'%s': expected at least a batch of %d items, received %d" % (asked["train"], batches.size, batches.count)
        )
    steps = asked["steps"] or _steps(asked["epochs"], batches)
    return Plan(batches, asked["loading_threads"], steps, asked["evaluate_every"], asked["until"])


def learn(trainer, plan, evaluator, emit):
    """Train and report; the caller says the last word. Training seconds count the first step, but no evaluation."""
    loader = Loader(plan.batches, plan.threads)
    try:
        train_to_goal(trainer, plan, evaluator, Learning(loader, plan.batches, emit))
    finally:
        loader.stop()
    emit_memory(trainer, emit)


def train_to_goal(trainer, plan, evaluator, learning):
    """Train and evaluate in turns until the steps are made or the accuracy is reached."""
    while learning.steps < plan.steps:
        learning.train(trainer, _next_stop(learning.steps, plan) - learning.steps)
        if _is_due(learning.steps, plan) and learning.evaluate(trainer, evaluator) >= (plan.until or math.inf):
            break
    learning.finish(trainer)


class Learning(object):
    """What was trained so far, how long it took, and the events that report it."""

    def __init__(self, loader, batches, emit, clock=time.perf_counter):
        self.steps = 0
        self._loader = loader
        self._batches = batches
        self._emit = emit
        self._clock = clock
        self._began = clock()
        self._train_s = 0.0

    def train(self, trainer, steps):
        """Train so many steps by the clock, which stops when the device has made them."""
        take, feed, step = self._loader.take, trainer.feed, trainer.step
        start = self._clock()
        for _ in range(steps):
            feed(take())
            step()
        trainer.wait()
        seconds = self._clock() - start
        self._train_s += seconds
        if not self.steps:
            self._emit("first_step", seconds=seconds)
            self._emit("loss", when="first", losses=trainer.read("losses"))
        self.steps += steps
        _expect_finite(trainer.read("losses"), self.steps)

    def evaluate(self, trainer, evaluator):
        """Evaluate the test split, report it, and return the accuracy; 0 where nothing is classified."""
        start = self._clock()
        score = evaluator.score(trainer)
        accuracy = None if score.correct is None else score.correct / float(score.count)
        self._emit(
            "evaluation",
            step=self.steps,
            epoch=self.steps * self._batches.size / float(self._batches.count),
            train_s=self._train_s,
            wall_s=self._clock() - self._began,
            evaluate_s=self._clock() - start,
            accuracy=accuracy,
            loss=score.loss,
            scores=score.scores,
            correct=score.correct or 0,
            count=score.count,
        )
        _expect_finite({"of the test split": score.loss}, self.steps)
        return accuracy or 0.0

    def finish(self, trainer):
        self._emit("loss", when="last", losses=trainer.read("losses"))
        self._emit(
            "trained",
            steps=self.steps,
            items=self.steps * self._batches.size,
            train_s=self._train_s,
            wall_s=self._clock() - self._began,
            loader=self._loader.seconds(),
        )


def _evaluation_builder(adapter, request):
    """What builds the graph for evaluation from current parameters; None where the training's own graph answers."""
    evaluation = request["plan"]["evaluation"]
    if evaluation is None:
        return None
    program = read_program(evaluation["programme"])

    def build_evaluation(parameters, number):
        values = dict(parameters, **folded_values(evaluation["folded"], parameters, shapes(program)))
        job = job_of(request, program, lambda name: np.array(values[name], np.float32, order="C"))
        # Building seeds the framework: with the training's seed its draws would begin again after every evaluation.
        return adapter.build(job._replace(seed=request["seed"] + number))

    return build_evaluation


def _next_stop(done, plan):
    """The first step is timed apart; then come looks at the loss, evaluations and the end."""
    if not done:
        return 1
    every = [CHECK_EVERY] + [plan.evaluate_every] * bool(plan.evaluate_every)
    return min([(done // steps + 1) * steps for steps in every] + [plan.steps])


def _is_due(done, plan):
    return done == plan.steps or (plan.evaluate_every > 0 and done % plan.evaluate_every == 0)


def _expect_finite(losses, step):
    for name, loss in losses.items():
        if not math.isfinite(loss):
            raise ValueError("step %d: expected a finite loss '%s', received %r" % (step, name, loss))
