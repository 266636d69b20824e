"""How a gradient moves variables in TensorFlow 2: its fused training ops, and under float16 the scale of the loss."""

import tensorflow as tf

from netdyno_worker.adapters.kit.adam import adam_epsilon
from netdyno_worker.adapters.kit.loss_scale import FIRST_SCALE, next_scale


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
        """Change the scale as a step with such gradients asks for."""
        factor, good = next_scale(self.factor, self._good, finite, tf.where)
        self.factor.assign(factor)
        self._good.assign(good)


class Sgd(object):
    """Each optimizer has `apply`, which puts the ops that change its variables into the current graph.

    `finite` is None, or a tensor that says whether to make the update. Not by branching, which would make TensorFlow
    wait for the device: instead rates are chosen with which nothing moves.
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
    """The op adds epsilon to a root that is not yet corrected: see kit.adam."""

    def __init__(self, rule, variables):
        self._rule = rule
        self._count = tf.Variable(tf.zeros([], variables[0].dtype))
        self._triples = [(variable, _zeros_like(variable), _zeros_like(variable)) for variable in variables]

    def apply(self, gradients, finite=None):
        rule = self._rule
        rate = _unless_skipped(finite, rule["learning_rate"], 0.0)
        betas = [_unless_skipped(finite, rule[name], 1.0) for name in ("beta1", "beta2")]
        count = self._count.assign_add(_unless_skipped(finite, 1.0, 0.0))
        if finite is not None:
            count = tf.maximum(count, 1.0)  # the first may be skipped too
        powers = [tf.pow(rule[name], count) for name in ("beta1", "beta2")]
        epsilon = adam_epsilon(rule["epsilon"], powers[1], tf.sqrt)
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
    return tf.Variable(tf.zeros(variable.shape, variable.dtype), trainable=False)
