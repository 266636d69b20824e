"""Is this the same network? Outputs, gradients and updated parameters, written down or compared with a reference.

A ReLU at zero and a tie in a pool may go either way when values are rounded, and one such case changes every
gradient behind it by a percent. That happens by chance in one batch; a wrong gradient is wrong in every batch.
So gradients are compared on several batches, and a tensor's error is the smallest of them.
"""

import os

import numpy as np

from netdyno_worker.build import build
from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.program import constants

FLOOR = 1e-3  # a tensor this much smaller than the largest of its kind is judged against the largest
CHOOSE = {
    "outputs": max,
    "losses": max,
    "gradients": min,
    "parameters": max,
    "moved": max,
}  # among a tensor's batches


def run(adapter, request, emit):
    """Several cases in one process: importing a framework can take longer than proving a small network."""
    for case in request["cases"]:
        try:
            emit("proof", case=case["name"], **_prove_case(adapter, request, case, emit))
        except Unsupported as error:
            emit("proof", case=case["name"], unsupported=str(error)[:2000])


def _prove_case(adapter, request, case, emit):
    trainer, program = build(adapter, request, case, emit)
    batches = [synthetic_batch(program, request["seed"] + number) for number in range(case["batches"])]
    arrays = prove(trainer, batches, case["steps"])
    if case["role"] == "reference":
        write_arrays(case["arrays"], arrays, constants(program))
        return {}
    return {"errors": compare_with(case["arrays"], arrays)}


def prove(trainer, batches, steps):
    """{"kind/batch or step/name": array}: values and gradients on each batch, then `steps` updates on the first."""
    seen = {}
    for number, batch in enumerate(batches):
        trainer.feed(batch)
        for kind in ("outputs", "gradients"):
            _add(seen, kind, number, trainer.read(kind))
    before = {name: np.array(value) for name, value in trainer.read("parameters").items()}
    trainer.feed(batches[0])
    for number in range(steps):
        trainer.step()
        trainer.wait()
        _add(seen, "losses", number, trainer.read("losses"))
    after = trainer.read("parameters")
    _add(seen, "parameters", 0, after)
    _add(seen, "moved", 0, {name: _wide(after[name]) - _wide(before[name]) for name in after})
    return seen


def write_arrays(path, arrays, constants=()):
    """Keep the reference's arrays for other workers, in float32: their rounding is far below any tolerance.

    Not those of constants: a framework that computes a composite op with a kernel of its own does not have them.
    """
    arrays = {key: array for key, array in arrays.items() if key.split("/", 2)[2] not in constants}
    draft = "%s.%d.making" % (path, os.getpid())
    with open(draft, "wb") as file:
        np.savez(file, **{name.replace("/", "|"): np.asarray(a, dtype=np.float32) for name, a in arrays.items()})
    os.rename(draft, path)


def compare_with(path, arrays):
    """{kind: {name: relative error}} against arrays written earlier."""
    errors = {kind: {} for kind in CHOOSE}
    with np.load(path, allow_pickle=False) as stored:
        reference = {name.replace("|", "/"): stored[name] for name in stored.files}
    largest = _largest(reference)
    for key, expected in reference.items():
        kind, number, name = key.split("/", 2)
        scale = max(_root_mean_square(expected), FLOOR * largest[kind, number])
        error = _error(arrays.get(key), expected, scale)
        known = errors[kind].get(name, error)
        errors[kind][name] = CHOOSE[kind](known, error)
    return errors


def _largest(reference):
    """The size of the largest tensor of each kind and batch."""
    largest = {}
    for key, value in reference.items():
        group = tuple(key.split("/", 2)[:2])
        largest[group] = max(largest.get(group, 0.0), _root_mean_square(value))
    return largest


def _error(received, expected, scale):
    """Root mean square of the difference over `scale`; 1 if there is nothing to compare, infinite if not finite."""
    if received is None or np.shape(received) != expected.shape:
        return 1.0
    difference = _root_mean_square(_wide(received) - expected)
    if not np.isfinite(difference):
        return float("inf")
    return float(difference / scale) if scale else float(difference)


def _root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(_wide(array))))) if np.size(array) else 0.0


def _wide(array):
    return np.asarray(array, dtype=np.float64)


def _add(seen, kind, number, arrays):
    for name, array in arrays.items():
        seen["%s/%d/%s" % (kind, number, name)] = np.array(array)
