"""Which of PyTorch's own kernels compute composite ops."""

import torch
from torch.nn import functional


def _recurrent(kernel, states):
    """Of one layer from zeros; `kernel` is that which torch.nn's own layer calls. Gives every hidden state."""

    def layer(x, *weights):
        zeros = x.new_zeros(1, x.shape[0], weights[1].shape[1])
        state = (zeros,) * states if states > 1 else zeros
        return kernel(x, state, weights, True, 1, 0.0, True, False, True)[0]

    return layer


def attention(query, key, value, causal):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)


NAMESPACE = {
    "lstm": _recurrent(torch.lstm, 2),
    "gru": _recurrent(torch.gru, 1),
    "rnn": _recurrent(torch.rnn_tanh, 1),
    "attention": attention,
}


def _layer_norm(site):
    width = (site.node.shape[-1],)
    return "torch.layer_norm(%s, %r, %s, %s, %r)" % (
        site.inputs[0],
        width,
        site.inputs[1],
        site.inputs[2],
        site.node.attributes["epsilon"],
    )


def _group_norm(site):
    groups, epsilon = site.node.attributes["groups"], site.node.attributes["epsilon"]
    return "torch.group_norm(%s, %d, %s, %s, %r)" % (site.inputs[0], groups, site.inputs[1], site.inputs[2], epsilon)


def _gelu(site):
    form = {"erf": "none", "tanh": "tanh"}[site.node.attributes["form"]]
    return "F.gelu(%s, approximate=%r)" % (site.inputs[0], form)


def _attention(site):
    return "attention(%s, %r)" % (", ".join(site.inputs), site.node.attributes["causal"])


def _called(name):
    return lambda site: "%s(%s)" % (name, ", ".join(site.inputs))


RULES = {
    "silu": _called("F.silu"),
    "relu6": _called("F.relu6"),
    "hard_swish": _called("F.hardswish"),
    "gelu": _gelu,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "attention": _attention,
    "lstm": _called("lstm"),
    "gru": _called("gru"),
    "rnn": _called("rnn"),
}
