"""What of Keras minimises an update's loss: a functional model whose output is that loss, and an optimizer."""

import keras
from keras import ops

FIRST_SCALE = 2.0**10
GOOD_STEPS = 2000  # after so many finite steps the scale doubles


class LossModel(keras.Model):
    """Its value is its loss, and it trains the variables that it is told to, whatever layers they belong to."""

    chosen = None  # a function that gives those variables: a list would be taken for state of the model's own
    scale = 1.0  # what the loss is multiplied with while gradients are only looked at

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return y_pred

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The loss of this step, where Keras would report the mean over an epoch."""
        return {"loss": ops.stop_gradient(y_pred)}

    @property
    def trainable_variables(self):
        return list(self.chosen()) if self.chosen else super(LossModel, self).trainable_variables

    @property
    def trainable_weights(self):
        return list(self.chosen()) if self.chosen else super(LossModel, self).trainable_weights

    @property
    def non_trainable_variables(self):
        return self._others(self.variables) if self.chosen else super(LossModel, self).non_trainable_variables

    @property
    def non_trainable_weights(self):
        return self._others(self.weights) if self.chosen else super(LossModel, self).non_trainable_weights

    def _others(self, variables):
        own = {id(variable) for variable in self.chosen()}
        return [variable for variable in variables if id(variable) not in own]


class TargetModel(LossModel):
    """Its value is what the loss compares with a target, as is usual with Keras. Without tracing that is faster."""

    compare = None  # the loss as a function of the value and the target
    seen = None  # whatever has an attribute `loss`; the model's own attributes are slow to set

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        self.seen.loss = self.compare(y_pred, y)
        return self.seen.loss

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        return {"loss": ops.stop_gradient(self.seen.loss)}


class Seen(object):
    loss = None


def optimizer(rule, scaled):
    """Keras's own; its velocity is ours times the learning rate, so the steps are the same."""
    kind, options = _kind_and_options(rule)
    return (_scaled(kind) if scaled else kind)(learning_rate=float(rule["learning_rate"]), **options)


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
            given = self.epsilon
            done = ops.cast(self.iterations + 1, "float32")
            self.epsilon = given * ops.sqrt(1.0 - ops.power(ops.cast(self.beta_2, "float32"), done))
            super(Adam, self)._backend_update_step(gradients, variables, learning_rate)
            self.epsilon = given

    return Adam


def _scaled(kind):
    """An optimizer that scales the loss for float16, and makes no update by gradients that are not finite.

    Keras's LossScaleOptimizer decides by a branch, and the host waits in every step for the device to say which way.
    Here the update is computed, and what stands afterwards is selected.
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
            self.iterations.assign_sub(ops.where(finite, 0, 1))  # Keras counts this step all the same
            self._move_scale(finite)

        def _move_scale(self, finite):
            good = ops.where(finite, self.good + 1, 0)
            grown = good >= GOOD_STEPS
            self.factor.assign(self.factor * ops.where(finite, ops.where(grown, 2.0, 1.0), 0.5))
            self.good.assign(ops.where(grown, 0, good))

    Scaled.__name__ = kind.__name__
    return Scaled
