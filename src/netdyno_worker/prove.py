"""Is this the same network? Outputs, gradients and updated parameters, written down or compared with a reference."""

import numpy as np

FLOOR = 1e-3  # a tensor this much smaller than the largest of its kind is judged against the largest


def prove(trainer, batch, steps):
    """{"kind/name": array} for everything that must be equal, after feeding `batch` and making `steps` updates."""
    trainer.feed(batch)
    seen = {}
    for kind in ("outputs", "gradients"):
        _add(seen, kind, trainer.read(kind))
    _add(seen, "initial", trainer.read("parameters"))
    for number in range(steps):
        trainer.step()
        trainer.wait()
        _add(seen, "losses", {"%s@%d" % item: v for item, v in _numbered(trainer.read("losses"), number)})
    _add(seen, "parameters", trainer.read("parameters"))
    return seen


def write_arrays(path, arrays):
    """Keep the reference's arrays for other workers."""
    with open(path, "wb") as file:
        np.savez(file, **{name.replace("/", "|"): array for name, array in arrays.items()})


def compare_with(path, arrays):
    """{kind: {name: relative error}} against arrays written earlier; a missing or misshapen one is an error of 1."""
    with np.load(path, allow_pickle=False) as stored:
        reference = {name.replace("|", "/"): stored[name] for name in stored.files}
    errors = {}
    for kind in ("outputs", "losses", "gradients", "parameters"):
        names = sorted(name for name in reference if name.startswith(kind + "/"))
        scale = _scales(kind, names, reference)
        largest = max(scale.values()) if scale else 0.0
        errors[kind] = {
            name[len(kind) + 1 :]: _error(arrays.get(name), reference[name], max(scale[name], FLOOR * largest))
            for name in names
        }
    return errors


def _scales(kind, names, reference):
    """What an error is measured against: the size of the reference, or how far a parameter moved."""
    scales = {}
    for name in names:
        value = reference[name]
        if kind == "parameters":
            value = value - reference["initial/" + name[len(kind) + 1 :]]
        scales[name] = _root_mean_square(value)
    return scales


def _error(received, expected, scale):
    if received is None or np.shape(received) != expected.shape:
        return 1.0
    difference = _root_mean_square(np.asarray(received, dtype=np.float64) - expected)
    if not np.isfinite(difference):
        return float("inf")
    return float(difference / scale) if scale else float(difference)


def _root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 0.0


def _numbered(losses, number):
    return [((name, number), value) for name, value in losses.items()]


def _add(seen, kind, arrays):
    for name, array in arrays.items():
        seen[kind + "/" + name] = np.asarray(array)
