"""How a run trains on real data: feed and step, stop the clock, ask the test split, and go on until it is enough."""

import math
import time
from collections import namedtuple

from netdyno_worker.loader import Batches, Loader
from netdyno_worker.measure import emit_memory
from netdyno_worker.packed import open_packed

CHECK_EVERY = 1000  # steps between looks at the loss: each look waits for the device

# batches: of the training split. threads: that load. steps: the most. evaluate_every: steps; 0 for the last one only.
# until: the accuracy that is enough, or None.
Course = namedtuple("Course", "batches threads steps evaluate_every until")


def open_course(plan, program, seed):
    """What a plan asks for, with its training split opened and checked."""
    batches = Batches(open_packed(plan["train"]), program, plan["transforms"], seed)
    if batches.count < batches.size:
        raise ValueError(
            "'%s': expected at least a batch of %d images, received %d" % (plan["train"], batches.size, batches.count)
        )
    steps = plan["steps"] or int(math.ceil(plan["epochs"] * batches.count / float(batches.size)))
    return Course(batches, plan["loading_threads"], steps, plan["evaluate_every"], plan["until"])


def train(trainer, course, examiner, emit):
    """Train and tell; the caller says the last word. Training seconds count the first step, but no evaluation."""
    loader = Loader(course.batches, course.threads)
    try:
        _train(trainer, course, examiner, Diary(loader, course.batches, emit))
    finally:
        loader.stop()
    emit_memory(trainer, emit)


def _train(trainer, course, examiner, diary):
    while diary.steps < course.steps:
        diary.stretch(trainer, _next_stop(diary.steps, course) - diary.steps)
        if _is_due(diary.steps, course) and diary.evaluate(trainer, examiner) >= (course.until or math.inf):
            break
    diary.close(trainer)


class Diary(object):
    """What was done so far, how long it took, and the events that tell of it."""

    def __init__(self, loader, batches, emit, clock=time.perf_counter):
        self.steps = 0
        self._loader = loader
        self._batches = batches
        self._emit = emit
        self._clock = clock
        self._began = clock()
        self._train_s = 0.0

    def stretch(self, trainer, steps):
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

    def evaluate(self, trainer, examiner):
        """Ask the test split, tell, and return the accuracy."""
        start = self._clock()
        score = examiner.score(trainer)
        accuracy = score.correct / float(score.count)
        self._emit(
            "evaluation",
            step=self.steps,
            epoch=self.steps * self._batches.size / float(self._batches.count),
            train_s=self._train_s,
            wall_s=self._clock() - self._began,
            evaluate_s=self._clock() - start,
            accuracy=accuracy,
            loss=score.loss,
            correct=score.correct,
            count=score.count,
        )
        _expect_finite({"of the test split": score.loss}, self.steps)
        return accuracy

    def close(self, trainer):
        self._emit("loss", when="last", losses=trainer.read("losses"))
        self._emit(
            "trained",
            steps=self.steps,
            images=self.steps * self._batches.size,
            train_s=self._train_s,
            wall_s=self._clock() - self._began,
            loader=self._loader.seconds(),
        )


def _next_stop(done, course):
    """The first step is timed apart; then come looks at the loss, evaluations and the end."""
    if not done:
        return 1
    every = [CHECK_EVERY] + [course.evaluate_every] * bool(course.evaluate_every)
    return min([(done // steps + 1) * steps for steps in every] + [course.steps])


def _is_due(done, course):
    return done == course.steps or (course.evaluate_every > 0 and done % course.evaluate_every == 0)


def _expect_finite(losses, step):
    for name, loss in losses.items():
        if not math.isfinite(loss):
            raise ValueError("step %d: expected a finite loss '%s', received %r" % (step, name, loss))
