"""Is this the same network? The oracle writes outputs, gradients and updated parameters; replays of it show what
rounding makes of each tensor; a candidate says how far it is from them. Whether that is too far is the host's to say.
"""

import os

import numpy as np

from netdyno_worker.build import build, job_of
from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.feed.weights import Weights
from netdyno_worker.oracle.rounding import unit_of_parameters
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
    arrays = _observed(trainer, program, request, case)
    write_arrays(case["arrays"], arrays, constants(program))
    known = set(arrays) - {"parameters/" + name for name in constants(program)}
    return _by_kind({key: _size(key, arrays[key], weights) for key in known})


def _replay(adapter, request, case, emit):
    """How far rounding alone takes each tensor from the reference; and with it what lies near a kink, of which two
    replays take half each to its other side."""
    program = read_program(case["programme"])
    weights = Weights(program, request["seed"], keep=True)
    job, batch = job_of(request, program, weights.initial), synthetic_batch(program, request["seed"])
    noises = adapter.noises(job, batch, case["steps"])
    first, second, smooth = [
        differences(case["arrays"], _observed(adapter.replay(job, number, noises), program, request, case))
        for number in range(3)
    ]
    unit = unit_of_parameters(request["precision"])
    for name in (key.split("/", 1)[1] for key in smooth if key.startswith("parameters/")):
        least = unit * _root_mean_square(weights.initial(name))
        smooth["parameters/" + name] = max(smooth["parameters/" + name], least)
    found = _by_kind(smooth)
    kinked = _by_kind({key: max(far, second[key]) for key, far in first.items()})
    found.update((kind + AT_KINKS, tensors) for kind, tensors in kinked.items())
    return found


def _candidate(adapter, request, case, emit):
    trainer, program = build(adapter, request, case, emit)
    return _by_kind(differences(case["arrays"], _observed(trainer, program, request, case)))


ROLES = {"reference": _reference, "replay": _replay, "candidate": _candidate}


def _observed(trainer, program, request, case):
    """{"kind/name": array} of one batch: outputs and gradients before updates, the first loss, parameters after."""
    trainer.feed(synthetic_batch(program, request["seed"]))
    seen = {}
    for kind in ("outputs", "gradients"):
        _add(seen, kind, trainer.read(kind))
    for number in range(case["steps"]):
        trainer.step()
        trainer.wait()
        if number == 0:
            _add(seen, "losses", trainer.read("losses"))
    _add(seen, "parameters", trainer.read("parameters"))
    return seen


def write_arrays(path, arrays, constants=()):
    """Keep the reference's arrays for other workers.

    Not those of constants: a framework that computes a composite op with a kernel of its own does not have them.
    """
    kept = {key: array for key, array in arrays.items() if key.split("/", 1)[1] not in constants}
    draft = "%s.%d.making" % (path, os.getpid())
    with open(draft, "wb") as file:
        np.savez(file, **{key.replace("/", "|"): _wide(array) for key, array in kept.items()})
    os.rename(draft, path)


def differences(path, arrays):
    """{"kind/name": how far an array is from the one written earlier}; infinite where there is none like it."""
    with np.load(path, allow_pickle=False) as stored:
        return {
            name.replace("|", "/"): _distance(arrays.get(name.replace("|", "/")), stored[name])
            for name in stored.files
        }


def _size(key, array, weights):
    kind, name = key.split("/", 1)
    return _root_mean_square(_wide(array) - weights.initial(name) if kind == "parameters" else array)


def _distance(received, expected):
    if received is None or np.shape(received) != expected.shape:
        return float("inf")
    distance = _root_mean_square(_wide(received) - expected)
    return distance if np.isfinite(distance) else float("inf")


def _root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(_wide(array))))) if np.size(array) else 0.0


def _wide(array):
    return np.asarray(array, dtype=np.float64)


def _add(seen, kind, arrays):
    for name, array in arrays.items():
        seen["%s/%s" % (kind, name)] = np.array(array)


def _by_kind(tensors):
    found = {kind: {} for kind in KINDS}
    for key, size in tensors.items():
        kind, name = key.split("/", 1)
        found[kind][name] = size
    return found
