"""Which expression of PyTorch computes each composite op; see kernels for those that are no functions of its own."""


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
