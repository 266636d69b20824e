"""Which fields of a solver's prototxt give the optimizer that the graph asks for."""

from netdyno_worker.adapters.caffe.net import Word, to_text
from netdyno_worker.adapters.kit.adam import adam_epsilon

SOLVERS = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam"}


def solver_text(rule):
    """All fields of a solver except its net."""
    fields = [("type", SOLVERS[rule["kind"]]), ("base_lr", rule["learning_rate"]), ("lr_policy", "fixed")]
    if rule["kind"] == "adam":
        # Caffe adds epsilon before the bias correction: so it is the graph's in the first step, and then smaller.
        first = adam_epsilon(rule["epsilon"], rule["beta2"])
        fields += [("momentum", rule["beta1"]), ("momentum2", rule["beta2"]), ("delta", first)]
    else:
        fields.append(("momentum", rule["momentum"] if rule["kind"] == "momentum" else 0.0))
    return to_text(fields + [("solver_mode", Word("CPU")), ("snapshot_after_train", False)])
