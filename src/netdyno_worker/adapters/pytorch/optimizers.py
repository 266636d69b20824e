"""Which of the library's optimizers computes what the graph asks for, in any of its versions."""

import inspect

import torch

from netdyno_worker.adapters.kit.adam import adam_epsilon


def make_optimizer(rule, parameters, recorded):
    """(the optimizer, what it is, for the record); fused where the library has that form. One that counts its steps
    must be told if a CUDA graph records them."""
    if rule["kind"] == "adam":
        kind = torch.optim.Adam if hasattr(torch, "channels_last") else _OldAdam
        settings = [rule["learning_rate"], (rule["beta1"], rule["beta2"]), rule["epsilon"]]
    else:
        kind = torch.optim.SGD
        settings = [rule["learning_rate"], rule["momentum"] if rule["kind"] == "momentum" else 0.0]
    if "fused" not in inspect.signature(kind.__init__).parameters:
        return kind(parameters, *settings), kind.__name__.lstrip("_")
    counts = {"capturable": recorded} if rule["kind"] == "adam" else {}
    optimizer = kind(parameters, *settings, fused=True, **counts)
    if rule["kind"] == "momentum":
        _make_moments(optimizer, parameters)
    return optimizer, "%s (fused)" % kind.__name__


def _make_moments(optimizer, parameters):
    """Make them now, as zeros: if a loss scale skips the first step, the fused form leaves them uninitialised."""
    for parameter in parameters:
        optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)


class _OldAdam(torch.optim.Adam):
    """Old versions add epsilon to the root before they correct its bias, the graph after: see kit.adam."""

    def __init__(self, parameters, learning_rate, betas, epsilon):
        super(_OldAdam, self).__init__(parameters, learning_rate, betas, epsilon)
        self._steps = 0
        self._epsilon = epsilon

    def step(self):
        self._steps += 1
        for group in self.param_groups:
            group["eps"] = adam_epsilon(self._epsilon, group["betas"][1] ** self._steps)
        super(_OldAdam, self).step()
