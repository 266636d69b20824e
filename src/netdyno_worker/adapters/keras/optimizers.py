"""Which Keras optimizer computes what the graph asks for, and how it scales the loss under float16."""

import keras
import numpy as np
from keras import ops

from netdyno_worker.adapters.kit.adam import adam_epsilon
from netdyno_worker.adapters.kit.loss_scale import FIRST_SCALE, next_scale


def make_optimizer(rule, scaled):
    """Keras's own; its velocity is the graph's times the learning rate, so the steps are the same."""
    kind, options = _kind_and_options(rule)
    options = {name: _number(value) for name, value in options.items()}
    kind = _dense(_scaled(kind) if scaled else kind)
    return kind(learning_rate=float(rule["learning_rate"]), **options)


def _number(value):
    """In float64 numpy's float, which is one of Python's too: of others TensorFlow makes float32 before it casts."""
    return np.float64(value) if keras.config.floatx() == "float64" else value


def _kind_and_options(rule):
    if rule["kind"] == "adam":
        return _adam_class(), {"beta_1": rule["beta1"], "beta_2": rule["beta2"], "epsilon": rule["epsilon"]}
    return keras.optimizers.SGD, {"momentum": float(rule["momentum"]) if rule["kind"] == "momentum" else 0.0}


def _adam_class():
    """Keras's Adam as it is on this backend, with epsilon where the graph means it.

    Keras adds it to the root before the correction of the bias, the graph after it.
    """

    class Adam(type(keras.optimizers.Adam())):
        def _backend_update_step(self, gradients, variables, learning_rate):
            given, dtype = self.epsilon, keras.config.floatx()
            done = ops.cast(self.iterations + 1, dtype)
            self.epsilon = adam_epsilon(given, ops.power(ops.cast(self.beta_2, dtype), done), ops.sqrt)
            super(Adam, self)._backend_update_step(gradients, variables, learning_rate)
            self.epsilon = given

    return Adam


def _dense(kind):
    """An optimizer that adds up an embedding's gradient for each of its rows first.

    TensorFlow gives rows and places, a row as often as it was looked up, and Keras would square each on its own.
    """
    if keras.config.backend() != "tensorflow":
        return kind
    import tensorflow as tf

    class Dense(kind):
        def _backend_update_step(self, gradients, variables, learning_rate):
            dense = [tf.convert_to_tensor(gradient) for gradient in gradients]
            super(Dense, self)._backend_update_step(dense, variables, learning_rate)

    Dense.__name__ = kind.__name__
    return Dense


def _scaled(kind):
    """An optimizer that scales the loss for float16, and makes no update by gradients that are not finite.

    Keras's LossScaleOptimizer decides by a branch, and the host waits in every step for the device to say which way.
    Here the update is computed, and then old or new values are selected.
    """

    class Scaled(kind):
        def build(self, variables):
            super(Scaled, self).build(variables)
            start = keras.initializers.Constant(FIRST_SCALE)
            self.factor = self.add_variable(shape=(), initializer=start, dtype="float32", name="factor")
            self.good = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="good")

        def scale_loss(self, loss):
            return ops.multiply(loss, self.factor)

        def _backend_update_step(self, gradients, variables, learning_rate):
            finite = ops.all(ops.stack([ops.all(ops.isfinite(gradient)) for gradient in gradients]))
            own = (self.iterations, self._learning_rate, self.factor, self.good)
            moving = list(variables) + [v for v in self.variables if not any(v is other for other in own)]
            before = [ops.copy(ops.convert_to_tensor(variable)) for variable in moving]
            inverse = 1.0 / ops.convert_to_tensor(self.factor)
            super(Scaled, self)._backend_update_step([g * inverse for g in gradients], variables, learning_rate)
            for variable, old in zip(moving, before):
                variable.assign(ops.where(finite, ops.convert_to_tensor(variable), old))
            self.iterations.assign_sub(ops.where(finite, 0, 1))  # Keras has counted this step
            self._move_scale(finite)

        def _move_scale(self, finite):
            factor, good = next_scale(self.factor, self.good, finite, ops.where)
            self.factor.assign(factor)
            self.good.assign(good)

    Scaled.__name__ = kind.__name__
    return Scaled
