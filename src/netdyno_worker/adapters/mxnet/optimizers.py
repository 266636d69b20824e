"""How MXNet's fused update ops make an optimizer: a list of calls prepared once."""

from functools import partial

import mxnet as mx

from netdyno_worker.adapters.kit.adam import adam_epsilon, adam_rate

# Parameters in one call of an op that updates several: what MXNet's own optimizers take.
_TOGETHER = 4


def optimizer(rule, weights, gradients):
    """A function that moves the weights once by the gradients in their arrays."""
    return _RULES[rule["kind"]](rule, weights, gradients)


def _sgd(rule, weights, gradients):
    if hasattr(mx.nd, "multi_sgd_update"):
        calls = _together(mx.nd.multi_sgd_update, rule, [weights, gradients], {})
    else:
        rate = rule["learning_rate"]
        calls = [partial(mx.nd.sgd_update, w, g, out=w, lr=rate) for w, g in zip(weights, gradients)]
    return partial(_make, calls)


def _momentum(rule, weights, gradients):
    """MXNet's velocity is minus the learning rate times the graph's: with a constant rate the same rule."""
    velocities = _zeros(weights)
    options = {"momentum": rule["momentum"]}
    if hasattr(mx.nd, "multi_sgd_mom_update"):
        calls = _together(mx.nd.multi_sgd_mom_update, rule, [weights, gradients, velocities], options)
    else:
        options["lr"] = rule["learning_rate"]
        rows = zip(weights, gradients, velocities)
        calls = [partial(mx.nd.sgd_mom_update, w, g, v, out=w, **options) for w, g, v in rows]
    return partial(_make, calls)


def _adam(rule, weights, gradients):
    rows = list(zip(weights, gradients, _zeros(weights), _zeros(weights)))
    return _Adam(rule, [partial(mx.nd.adam_update, *row, out=row[0]) for row in rows])


class _Adam(object):
    """The op does not correct the bias; a rate and an epsilon for each step do: see kit.adam."""

    def __init__(self, rule, calls):
        self._rule = rule
        self._calls = calls
        self._count = 0

    def __call__(self):
        self._count += 1
        beta1, beta2 = self._rule["beta1"], self._rule["beta2"]
        powers = beta1**self._count, beta2**self._count
        rate, epsilon = (
            adam_rate(self._rule["learning_rate"], *powers),
            adam_epsilon(self._rule["epsilon"], powers[1]),
        )
        for call in self._calls:
            call(lr=rate, beta1=beta1, beta2=beta2, epsilon=epsilon)


def _together(op, rule, columns, options):
    """Calls of an op that updates several parameters; `columns` are weights, gradients and what else it wants."""
    calls = []
    for start in range(0, len(columns[0]), _TOGETHER):
        rows = list(zip(*[column[start : start + _TOGETHER] for column in columns]))
        rates, decays = (rule["learning_rate"],) * len(rows), (0.0,) * len(rows)
        arrays = [array for row in rows for array in row]
        weights = [row[0] for row in rows]
        calls.append(partial(op, *arrays, out=weights, num_weights=len(rows), lrs=rates, wds=decays, **options))
    return calls


def _make(calls):
    for call in calls:
        call()


def _zeros(arrays):
    return [mx.nd.zeros(array.shape, ctx=array.context) for array in arrays]


_RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
