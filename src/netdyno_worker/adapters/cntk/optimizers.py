"""How CNTK moves parameters: its own learners where their arithmetic is the graph's, its universal one for Adam."""

import cntk


def learner_for(rule, parameters, batch):
    """A learner of the mean loss over a batch.

    CNTK's gradients are sums over the batch; with minibatch_size IGNORE its learners divide by the batch.
    """
    whole = cntk.learners.IGNORE
    if rule["kind"] == "adam":
        return cntk.learners.universal(_adam(rule, batch), parameters)
    if rule["kind"] == "momentum":
        return cntk.momentum_sgd(
            parameters, rule["learning_rate"], rule["momentum"], unit_gain=False, minibatch_size=whole
        )
    return cntk.sgd(parameters, rule["learning_rate"], minibatch_size=whole)


def _adam(rule, batch):
    """CNTK's own Adam adds epsilon before it corrects the second moment; the graph's adds it after."""

    def update(parameters, gradients):
        dtype = parameters[0].dtype
        corrections = [_correction(rule[beta], dtype) for beta in ("beta1", "beta2")]
        moved = [_moved(rule, pair, corrections, batch) for pair in zip(parameters, gradients)]
        return cntk.combine(moved)

    return update


def _correction(beta, dtype):
    """1 - beta**step, kept as such: 1 minus a rounded power would lose its digits."""
    kept = cntk.constant(0, shape=(1,), dtype=dtype, name="correction")
    return cntk.assign(kept, kept * beta + (1.0 - beta))


def _moved(rule, pair, corrections, batch):
    parameter, gradient = pair
    mean = gradient * (1.0 / batch)
    first = _average(parameter, rule["beta1"], mean)
    second = _average(parameter, rule["beta2"], mean * mean)
    root = cntk.sqrt(second / corrections[1]) + rule["epsilon"]
    return cntk.assign(parameter, parameter - rule["learning_rate"] * (first / corrections[0]) / root)


def _average(parameter, beta, value):
    kept = cntk.constant(0, shape=parameter.shape, dtype=parameter.dtype, name="moment")
    return cntk.assign(kept, beta * kept + (1.0 - beta) * value)
