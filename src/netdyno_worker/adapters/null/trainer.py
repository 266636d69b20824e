"""Trains nothing: a step only counts, so that what is measured is the harness itself."""

import numpy as np

from netdyno_worker.contract import Trainer
from netdyno_worker.program import shapes


def versions():
    return {}


def build(job):
    return NullTrainer(job)


class NullTrainer(Trainer):
    """Counts steps. Weights are drawn only when read, so that building stays instant for any network."""

    def __init__(self, job):
        self._job = job
        self._steps = 0

    def feed(self, batch):
        """A batch is ignored."""

    def step(self):
        self._steps += 1

    def wait(self):
        """Nothing is computed."""

    def read(self, what):
        """Initial parameters, zeros, and a loss that falls, because a constant one would be flagged."""
        program = self._job.program
        if what == "losses":
            return {update.name: 1.0 / (1 + self._steps) for update in program.updates}
        if what == "parameters":
            return {p.name: self._job.initial(p.name) for p in program.parameters}
        known = shapes(program)
        if what == "outputs":
            return {name: np.zeros(known[name]) for name in program.outputs}
        if what == "gradients":
            return {u.name + "/" + p: np.zeros(known[p]) for u in program.updates for p in u.parameters}
        raise KeyError(what)


UNSUPPORTED = {}
