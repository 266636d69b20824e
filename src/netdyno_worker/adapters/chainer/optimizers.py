"""How Chainer moves parameters: the update rules of its own optimizers, one per parameter."""

import chainer

from netdyno_worker.adapters.kit.adam import adam_epsilon


class Optimizer(object):
    """The rules of one optimizer. Its momentum is the graph's with the learning rate inside."""

    def __init__(self, wanted, count):
        kinds, rate = chainer.optimizers, wanted["learning_rate"]
        if wanted["kind"] == "adam":
            whole = kinds.Adam(rate, wanted["beta1"], wanted["beta2"])
            self.update = self._update_adam
        elif wanted["kind"] == "momentum":
            whole = kinds.MomentumSGD(rate, wanted["momentum"])
        else:
            whole = kinds.SGD(rate)
        self._wanted = wanted
        self._shared = whole.hyperparam
        self._rules = [whole.create_update_rule() for _ in range(count)]
        self._steps = 0

    def update(self, parameters):
        for rule, parameter in zip(self._rules, parameters):
            rule.update(parameter)

    def _update_adam(self, parameters):
        """Chainer adds epsilon to the root before it corrects the root's bias, the graph after."""
        self._steps += 1
        self._shared.eps = adam_epsilon(self._wanted["epsilon"], self._wanted["beta2"] ** self._steps)
        Optimizer.update(self, parameters)
