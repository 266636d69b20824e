"""How a gradient moves variables in TensorFlow 2: its fused training ops, and under float16 the scale of the loss."""

import tensorflow as tf

FIRST_SCALE = 2.0**10
GOOD_STEPS = 2000  # after so many finite steps the scale doubles


class LossScale(object):
    """What a loss is multiplied with so that its gradients do not vanish in float16."""

    def __init__(self):
        self.factor = tf.Variable(FIRST_SCALE, trainable=False)
        self._good = tf.Variable(0, trainable=False)

    def undone(self, gradients):
        """(the gradients of the loss itself, zeros in place of all if one is not finite; whether all are finite)."""
        finite = tf.reduce_all(tf.stack([tf.reduce_all(tf.math.is_finite(gradient)) for gradient in gradients]))
        inverse = 1.0 / self.factor
        return [tf.where(finite, gradient * inverse, 0.0) for gradient in gradients], finite

    def move(self, finite):
        """Half after a gradient that is not finite, twice after many that were."""
        good = tf.where(finite, self._good + 1, 0)
        grown = good >= GOOD_STEPS
        self.factor.assign(self.factor * tf.where(finite, tf.where(grown, 2.0, 1.0), 0.5))
        self._good.assign(tf.where(grown, 0, good))


class Sgd(object):
    """Each optimizer has `apply`, which puts the ops that change its variables into the current graph.

    `finite` is None, or a tensor that says whether to make the update. Not by branching: TensorFlow would wait for
    the device to say which way. Rates at which nothing moves do the same.
    """

    def __init__(self, rule, variables):
        self._rate = rule["learning_rate"]
        self._variables = variables

    def apply(self, gradients, finite=None):
        rate = _unless_skipped(finite, self._rate, 0.0)
        for variable, gradient in zip(self._variables, gradients):
            tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)


class Momentum(object):
    def __init__(self, rule, variables):
        self._rate, self._momentum = rule["learning_rate"], rule["momentum"]
        self._pairs = [(variable, _zeros_like(variable)) for variable in variables]

    def apply(self, gradients, finite=None):
        rate, momentum = _unless_skipped(finite, self._rate, 0.0), _unless_skipped(finite, self._momentum, 1.0)
        for (variable, velocity), gradient in zip(self._pairs, gradients):
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle, accum=velocity.handle, lr=rate, grad=gradient, momentum=momentum
            )


class Adam(object):
    """The op adds epsilon to a root that is not yet corrected; an epsilon scaled alike makes it ours."""

    def __init__(self, rule, variables):
        self._rule = rule
        self._count = tf.Variable(0.0)
        self._triples = [(variable, _zeros_like(variable), _zeros_like(variable)) for variable in variables]

    def apply(self, gradients, finite=None):
        rule = self._rule
        rate = _unless_skipped(finite, rule["learning_rate"], 0.0)
        betas = [_unless_skipped(finite, rule[name], 1.0) for name in ("beta1", "beta2")]
        count = self._count.assign_add(_unless_skipped(finite, 1.0, 0.0))
        if finite is not None:
            count = tf.maximum(count, 1.0)  # the first may be skipped too
        powers = [tf.pow(rule[name], count) for name in ("beta1", "beta2")]
        epsilon = rule["epsilon"] * tf.sqrt(1.0 - powers[1])
        for (variable, first, second), gradient in zip(self._triples, gradients):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=first.handle,
                v=second.handle,
                beta1_power=powers[0],
                beta2_power=powers[1],
                lr=rate,
                beta1=betas[0],
                beta2=betas[1],
                epsilon=epsilon,
                grad=gradient,
            )


OPTIMIZERS = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}


def _unless_skipped(finite, value, otherwise):
    return value if finite is None else tf.where(finite, value, otherwise)


def _zeros_like(variable):
    return tf.Variable(tf.zeros(variable.shape), trainable=False)
