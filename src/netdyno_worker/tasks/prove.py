"""Is this the same network? The oracle writes outputs, gradients and updated parameters; replays of it show what
rounding makes of each tensor; a candidate says how far it is from them. Whether that is too far is the host's to say.
"""

import os

import numpy as np

from netdyno_worker.build import build, job_of
from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.feed.weights import Weights
from netdyno_worker.oracle.rounding import EVERY_STEP, LATER_STEPS, SMOOTH, distances, unit_of_parameters
from netdyno_worker.program import constants, read_program

KINDS = ("outputs", "gradients", "losses", "parameters")
AT_KINKS = "_at_kinks"  # behind a kind


def run(adapter, request, emit):
    """Several cases in one process: importing a framework can take longer than proving a small network."""
    for case in request["cases"]:
        try:
            emit("proof", case=case["name"], tensors=ROLES[case["role"]](adapter, request, case, emit))
        except Unsupported as error:
            emit("proof", case=case["name"], unsupported=str(error)[:2000])


def _reference(adapter, request, case, emit):
    """Keep the arrays for others. How large each tensor is; of a parameter, how far it moved."""
    weights = Weights(read_program(case["programme"]), request["seed"], keep=True)
    trainer, program = build(adapter, request, case, emit, weights)
    arrays = {}
    _observe(trainer, program, request, case, arrays.__setitem__)
    write_arrays(case["arrays"], arrays, constants(program))
    known = set(arrays) - {"parameters/" + name for name in constants(program)}
    return _by_kind({key: _size(key, arrays[key], weights) for key in known})


def _replay(adapter, request, case, emit):
    """How far rounding alone takes each tensor from the reference; and with it what lies near a kink, of which the
    replays of a pair take half each to its other side."""
    program = read_program(case["programme"])
    weights = Weights(program, request["seed"], keep=True)
    job = job_of(request, program, weights.initial)
    noises = _Noises(
        adapter.build(job._replace(precision="float64")),
        adapter.replay(job, SMOOTH),
        synthetic_batch(program, request["seed"]),
    )
    smooth = _differences(noises.rounded, program, request, case, noises.add)
    if not noises.steps:
        noises.step()
    steps = noises.steps
    del noises  # and with it the memory of two trainers
    numbers = EVERY_STEP + LATER_STEPS if case["steps"] > 1 else EVERY_STEP
    kinked = [_differences(adapter.replay(job, number, steps), program, request, case) for number in numbers]
    unit = unit_of_parameters(request["precision"])
    for name in (key.split("/", 1)[1] for key in smooth if key.startswith("parameters/")):
        least = unit * _root_mean_square(weights.initial(name))
        smooth["parameters/" + name] = max(smooth["parameters/" + name], least)
    found = _by_kind(smooth)
    farthest = _by_kind({key: max(each[key] for each in kinked) for key in kinked[0]})
    found.update((kind + AT_KINKS, tensors) for kind, tensors in farthest.items())
    return found


class _Noises(object):
    """`steps`: for each, how far rounding takes every value; the exact trainer follows the rounded one."""

    def __init__(self, exact, rounded, batch):
        self._exact, self.rounded = exact, rounded
        exact.feed(batch)
        self.steps = []

    def step(self):
        self.rounded.step()
        self.add()

    def add(self):
        self._exact.step()
        self.steps.append(distances(self._exact.values, self.rounded.values))


def _candidate(adapter, request, case, emit):
    trainer, program = build(adapter, request, case, emit)
    return _by_kind(_differences(trainer, program, request, case))


ROLES = {"reference": _reference, "replay": _replay, "candidate": _candidate}


def _differences(trainer, program, request, case, after_step=lambda: None):
    """{"kind/name": how far each of a trainer's arrays is from the reference's}."""
    with Differences(case["arrays"]) as differences:
        _observe(trainer, program, request, case, differences.add, after_step)
        return differences.found()


def _observe(trainer, program, request, case, see, after_step=lambda: None):
    """Call see("kind/name", array) on one batch: outputs and gradients before updates, the first loss, parameters
    after. The next read or step may change an array that was seen."""
    trainer.feed(synthetic_batch(program, request["seed"]))
    for kind in ("outputs", "gradients"):
        _see_all(see, kind, trainer.read(kind))
    for number in range(case["steps"]):
        trainer.step()
        trainer.wait()
        after_step()
        if number == 0:
            _see_all(see, "losses", trainer.read("losses"))
    _see_all(see, "parameters", trainer.read("parameters"))


def write_arrays(path, arrays, constants=()):
    """Keep the reference's arrays for other workers.

    Not those of constants: a framework that computes a composite op with a kernel of its own does not have them.
    """
    kept = {key: array for key, array in arrays.items() if key.split("/", 1)[1] not in constants}
    draft = "%s.%d.making" % (path, os.getpid())
    with open(draft, "wb") as file:
        np.savez(file, **{key.replace("/", "|"): _wide(array) for key, array in kept.items()})
    os.rename(draft, path)


class Differences(object):
    """How far arrays are from those written earlier, one after the other: a large network has gigabytes of them."""

    def __init__(self, path):
        self._stored = np.load(path, allow_pickle=False)
        self._found = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stored.close()

    def add(self, key, array):
        name = key.replace("/", "|")
        if name in self._stored.files:
            self._found[key] = _distance(array, self._stored[name])

    def found(self):
        """Of every array written earlier; infinite where none like it came."""
        keys = [name.replace("|", "/") for name in self._stored.files]
        return {key: self._found.get(key, float("inf")) for key in keys}


def _size(key, array, weights):
    kind, name = key.split("/", 1)
    return _root_mean_square(_wide(array) - weights.initial(name) if kind == "parameters" else array)


def _distance(received, expected):
    if np.shape(received) != expected.shape:
        return float("inf")
    distance = _root_mean_square(_wide(received) - expected)
    return distance if np.isfinite(distance) else float("inf")


def _root_mean_square(array):
    flat = _wide(array).reshape(-1)
    return float(np.sqrt(np.dot(flat, flat) / len(flat))) if len(flat) else 0.0


def _wide(array):
    return np.asarray(array, dtype=np.float64)


def _see_all(see, kind, arrays):
    for name, array in arrays.items():
        see("%s/%s" % (kind, name), array)


def _by_kind(tensors):
    found = {kind: {} for kind in KINDS}
    for key, size in tensors.items():
        kind, name = key.split("/", 1)
        found[kind][name] = size
    return found
