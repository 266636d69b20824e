"""How good is it? Accuracy, loss and other scores on a split: by the training's own graph or one for evaluation."""

import gc
from collections import namedtuple

import numpy as np

from netdyno_worker.feed.loader import Loader

# correct: items whose largest logit is their label's, None where nothing is classified. loss: its mean over `count`
# items. scores: {name: mean}.
Score = namedtuple("Score", "correct count loss scores")
# What is read of a batch. logits: the output that is compared with labels; or None, and losses: outputs whose sum is
# the loss, scores: {name: output} of what else is told. All of these are scalars.
Reading = namedtuple("Reading", "logits losses scores")


class Evaluator(object):
    """Evaluates a split. `build_other` is None where the training's own graph answers; else it is a function
    (parameters, number of the evaluation) -> a trainer of the graph that does."""

    def __init__(self, batches, threads, reading, build_other=None):
        self._batches = batches
        self._threads = threads
        self._reading = reading
        self._build_other = build_other
        self._number = 0

    def score(self, trainer):
        """Evaluating leaves the training as it was; it only has to be fed again."""
        self._number += 1
        if self._build_other is None:
            return evaluate(trainer, self._batches, self._threads, self._reading)
        other = self._build_other(trainer.read("parameters"), self._number)
        found = evaluate(other, self._batches, self._threads, self._reading)
        del other
        gc.collect()  # reference cycles in frameworks hold a device's memory
        return found


def evaluate(trainer, batches, threads, reading):
    """The score of a trainer on a split."""
    loader = Loader(batches, threads)
    try:
        return (_scored if reading.logits is None else _classified)(trainer, batches, loader, reading)
    finally:
        loader.stop()


def _classified(trainer, batches, loader, reading):
    """The last batch is filled up with items that do not count."""
    correct, loss = 0, 0.0
    for first in range(0, batches.count, batches.size):
        batch = loader.take()
        trainer.feed(batch)
        real = min(batches.size, batches.count - first)
        right, losses = _marked(trainer.read("outputs")[reading.logits][:real], batch[batches.labels_name][:real])
        correct, loss = correct + right, loss + losses
    return Score(correct, batches.count, loss / batches.count, {})


def _scored(trainer, batches, loader, reading):
    """Over whole batches, because a mean over a batch counts all of it; what is left of the split is left out."""
    sums, whole = {}, max(1, batches.count // batches.size)
    for _ in range(whole):
        trainer.feed(loader.take())
        for name, value in trainer.read("outputs").items():
            if np.size(value) == 1:
                sums[name] = sums.get(name, 0.0) + float(_wide(value).sum())
    means = {name: total / whole for name, total in sums.items()}
    scores = {name: means[output] for name, output in reading.scores.items()}
    return Score(None, whole * batches.size, sum(means[name] for name in reading.losses), scores)


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
