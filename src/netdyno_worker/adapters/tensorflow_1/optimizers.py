"""Which of TensorFlow 1's optimizers computes what the graph asks for."""

import tensorflow as tf

from netdyno_worker.adapters.kit.adam import adam_epsilon


class Adam(tf.train.AdamOptimizer):
    """The op adds epsilon to a root that is not yet corrected: see kit.adam."""

    def __init__(self, rule):
        super(Adam, self).__init__(rule["learning_rate"], rule["beta1"], rule["beta2"], rule["epsilon"])

    def _prepare(self):
        super(Adam, self)._prepare()
        _, beta2_power = self._get_beta_accumulators()
        self._epsilon_t = adam_epsilon(self._epsilon, beta2_power.read_value(), tf.sqrt)


class Momentum(tf.train.MomentumOptimizer):
    def __init__(self, rule):
        super(Momentum, self).__init__(rule["learning_rate"], rule["momentum"])


class GradientDescent(tf.train.GradientDescentOptimizer):
    def __init__(self, rule):
        super(GradientDescent, self).__init__(rule["learning_rate"])


OPTIMIZERS = {"sgd": GradientDescent, "momentum": Momentum, "adam": Adam}
