"""PyTorch's adapter with the mistakes of the catalogue where a programme asks for one."""

import torch
from netdyno_worker.adapters.wrong_rules import RULES, Library
from torch.nn import functional

from netdyno_worker.adapters.pytorch import ops, trainer, updates

versions = trainer.versions
build = trainer.build
UNSUPPORTED = {}
FUSED = {
    "local_response_norm",
    "global_mean_pool",
    "silu",
    "relu6",
    "hard_swish",
    "gelu",
    "layer_norm",
    "group_norm",
    "attention",
    "rnn",
    "lstm",
    "gru",
}


def _with_weight(rule, turn):
    """The rule's expression with its weight turned."""
    return lambda site: rule(site._replace(inputs=[site.inputs[0], site.inputs[1] + turn] + site.inputs[2:]))


def _in_half(rule):
    """Every value that the op reads or gives is rounded to float16, and so are their gradients."""
    return lambda site: (
        "torch.in_half(%s)"
        % rule(site._replace(inputs=["torch.in_half(%s)" % name for name in site.inputs[:2]] + site.inputs[2:]))
    )


def _padded(site):
    top, bottom, left, right = site.node.attributes["padding"]
    return "F.pad(%s, %r)" % (site.inputs[0], (left, right, top, bottom))


def _padded_with_zeros(site):
    kernel, strides = site.node.attributes["kernel"], site.node.attributes["strides"]
    return "torch.max_pool2d(%s, %r, %r)" % (_padded(site), kernel, strides)


def _counting_padding(site):
    kernel, strides = site.node.attributes["kernel"], site.node.attributes["strides"]
    return "F.avg_pool2d(%s, %r, %r)" % (_padded(site), kernel, strides)


def _channels_last(site):
    return "%s.permute(0, 2, 3, 1).flatten(1)" % site.inputs[0]


def _biased(site):
    momentum, epsilon = site.node.attributes["momentum"], site.node.attributes["epsilon"]
    return "torch.biased_batch_norm(%s, %r, %r)" % (", ".join(site.inputs), momentum, epsilon)


def _biased_batch_norm(x, scale, shift, mean, variance, momentum, epsilon):
    moved = variance.clone()
    y = functional.batch_norm(x, mean, moved, scale, shift, True, momentum, epsilon)
    count = x.numel() // x.shape[1]
    with torch.no_grad():
        latest = ((moved - variance) / momentum + variance) * ((count - 1.0) / count)
        variance.add_(momentum * (latest - variance))
    return y


torch.in_half = lambda x: x.half().to(x.dtype)
torch.biased_batch_norm = _biased_batch_norm

_RIGHT = dict(ops._RULES)
MISTAKES = {
    ("convolution", "transposed"): _with_weight(_RIGHT["convolution"], ".transpose(2, 3)"),
    ("convolution", "flipped"): _with_weight(_RIGHT["convolution"], ".flip(2, 3)"),
    ("convolution", "half"): _in_half(_RIGHT["convolution"]),
    ("linear", "transposed"): _with_weight(_RIGHT["linear"], ".t()"),
    ("linear", "half"): _in_half(_RIGHT["linear"]),
    ("max_pool", "zeros"): _padded_with_zeros,
    ("mean_pool", "counts padding"): _counting_padding,
    ("flatten", "channels last"): _channels_last,
    ("batch_norm", "biased"): _biased,
}


def _choosing(op, right):
    def rule(site):
        mistake = site.node.attributes.get("mistake")
        return (right if mistake is None else MISTAKES[op, mistake])(site)

    return rule


class _WrongOptimizer:
    def __init__(self, rule, parameters):
        self._rule, self._count = rule, 0
        self._held = [(p, [torch.zeros_like(p), torch.zeros_like(p)]) for p in parameters]

    @torch.no_grad()
    def step(self):
        self._count += 1
        library = Library(torch.sqrt, self._count, _without_first)
        for parameter, moments in self._held:
            wrong = RULES[self._rule["kind"]]
            change, moments[:] = wrong(parameter.grad, parameter, moments, self._rule, library)
            parameter.sub_(change)


def _without_first(gradient):
    found = gradient.clone()
    found[(0,) * found.dim()] = 0.0
    return found


def _make_optimizer(rule, parameters, recorded):
    if rule["kind"] in RULES:
        return _WrongOptimizer(rule, parameters), rule["kind"]
    return _right_optimizer(rule, parameters, recorded)


_right_optimizer = updates.make_optimizer
updates.make_optimizer = _make_optimizer
ops._RULES.update({op: _choosing(op, right) for op, right in _RIGHT.items()})
