"""How accurate is it? Accuracy and loss on a whole split, by the training's own graph or one for evaluation."""

import gc
from collections import namedtuple

import numpy as np

from netdyno_worker.feed.loader import Loader

# correct: images whose largest logit is their label's. loss: mean cross-entropy over all `count` images.
Score = namedtuple("Score", "correct count loss")


class Evaluator(object):
    """Evaluates a split. `build_other` is None where the training's own graph answers; else it is a function
    (parameters, number of the evaluation) -> a trainer of the graph that does."""

    def __init__(self, batches, threads, logits, build_other=None):
        self._batches = batches
        self._threads = threads
        self._logits = logits
        self._build_other = build_other
        self._number = 0

    def score(self, trainer):
        """Evaluating leaves the training as it was; it only has to be fed again."""
        self._number += 1
        if self._build_other is None:
            return evaluate(trainer, self._batches, self._threads, self._logits)
        other = self._build_other(trainer.read("parameters"), self._number)
        found = evaluate(other, self._batches, self._threads, self._logits)
        del other
        gc.collect()  # reference cycles in frameworks hold a device's memory
        return found


def evaluate(trainer, batches, threads, logits):
    """The score of the output `logits`; the last batch is filled up with images that do not count."""
    loader = Loader(batches, threads)
    correct, loss = 0, 0.0
    try:
        for first in range(0, batches.count, batches.size):
            batch = loader.take()
            trainer.feed(batch)
            real = min(batches.size, batches.count - first)
            right, losses = _marked(trainer.read("outputs")[logits][:real], batch[batches.labels_name][:real])
            correct, loss = correct + right, loss + losses
    finally:
        loader.stop()
    return Score(correct, batches.count, loss / batches.count)


def folded_values(table, parameters, shapes):
    """{name: float32 array} of the maps that batch norms were folded into; each row of the table says from what."""
    found = {}
    for row in table:
        gamma, beta, mean, variance = (_wide(parameters[row[role]]) for role in ("gamma", "beta", "mean", "variance"))
        factor = gamma / np.sqrt(variance + row["epsilon"])
        shape = shapes[row["weight"]]
        weight = np.eye(len(gamma)) if row["old_weight"] is None else _wide(parameters[row["old_weight"]])
        bias = 0.0 if row["old_bias"] is None else _wide(parameters[row["old_bias"]])
        found[row["weight"]] = weight.reshape(shape) * factor.reshape((-1,) + (1,) * (len(shape) - 1))
        found[row["bias"]] = beta + factor * (bias - mean)
    return {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in found.items()}


def _marked(logits, labels):
    """(how many are right, the sum of their cross-entropies)."""
    logits = _wide(logits)
    shifted = logits - logits.max(axis=1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
    return int((logits.argmax(axis=1) == labels).sum()), float(losses.sum())


def _wide(array):
    return np.asarray(array, dtype=np.float64)
