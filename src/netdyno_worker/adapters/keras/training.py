"""Which Keras model minimises an update's loss: its output is that loss, or the value that the loss compares."""

import keras
from keras import ops


class LossModel(keras.Model):
    """Its value is its loss, and it trains the variables that `chosen` gives, whatever layers they belong to."""

    chosen = None  # a function, because Keras would track a list as the model's own state
    scale = 1.0  # factor of the loss where gradients are only read

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
