"""What of Keras minimises an update's loss: a functional model whose output is that loss, and an optimizer."""

import keras
from keras import ops


class LossModel(keras.Model):
    """Its value is its loss, and it trains the variables that it is told to, whatever layers they belong to."""

    chosen = None  # a function that gives those variables: a list would be taken for state of the model's own

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


def optimizer(rule):
    """Keras's own; its velocity is ours times the learning rate, so the steps are the same."""
    rate = float(rule["learning_rate"])
    if rule["kind"] == "adam":
        moments = {"beta_1": rule["beta1"], "beta_2": rule["beta2"]}
        return _adam_class()(learning_rate=rate, epsilon=rule["epsilon"], **moments)
    momentum = float(rule["momentum"]) if rule["kind"] == "momentum" else 0.0
    return keras.optimizers.SGD(learning_rate=rate, momentum=momentum)


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
