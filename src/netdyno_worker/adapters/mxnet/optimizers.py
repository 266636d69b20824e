"""How MXNet's fused update ops make an optimizer: a list of calls prepared once."""

from functools import partial

import mxnet as mx

from netdyno_worker.adapters.kit.adam import adam_epsilon, adam_rate

# Parameters in one call of an op that updates several: what MXNet's own optimizers take.
_TOGETHER = 4


def optimizer(rule, weights, gradients):
    """A function that moves the weights once by the gradients in their arrays."""
    return _RULES[rule["kind"]](rule, weights, gradients)


def exact_optimizer(rule, weights, gradients):
    """The same for float64, with several ops: a fused one takes rates as float32."""
    moments = [_zeros(weights) for _ in range(_MOMENTS[rule["kind"]])]
    return _Exact(rule, list(zip(weights, gradients, *moments)))


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


class _Exact(object):
    """`rows` have a weight, its gradient and its moments."""

    def __init__(self, rule, rows):
        self._rule = rule
        self._rows = rows
        self._count = 0

    def __call__(self):
        self._count += 1
        for weight, gradient, *moments in self._rows:
            weight -= getattr(self, "_" + self._rule["kind"])(gradient, *moments)

    def _sgd(self, gradient):
        return gradient * self._rule["learning_rate"]

    def _momentum(self, gradient, velocity):
        velocity[:] = velocity * self._rule["momentum"] + gradient
        return velocity * self._rule["learning_rate"]

    def _adam(self, gradient, first, second):
        powers = []
        for name, moment, value in (("beta1", first, gradient), ("beta2", second, mx.nd.square(gradient))):
            moment[:] = moment * self._rule[name] + value * (1.0 - self._rule[name])
            powers.append(self._rule[name] ** self._count)
        rate = adam_rate(self._rule["learning_rate"], *powers)
        return rate * first / (mx.nd.sqrt(second) + adam_epsilon(self._rule["epsilon"], powers[1]))


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
    return [mx.nd.zeros(array.shape, ctx=array.context, dtype=array.dtype) for array in arrays]


_RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}
_MOMENTS = {"sgd": 0, "momentum": 1, "adam": 2}
