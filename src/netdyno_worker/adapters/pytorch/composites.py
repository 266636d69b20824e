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

_RECURRENT = ("rnn", "lstm", "gru")


def stacked(nodes, used, shapes):
    """Recurrent layers of which each is read by the next alone, as one node: their kernel takes all of a width."""
    found = []
    for node in nodes:
        before = found[-1] if found else None
        if before is not None and _continues(before, node, used, shapes):
            found[-1] = node._replace(inputs=before.inputs + node.inputs[1:])
        else:
            found.append(node)
    return found


def _continues(before, node, used, shapes):
    is_next = node.op in _RECURRENT and node.op == before.op and node.inputs[0] == before.name
    return is_next and used[before.name] == 1 and shapes[before.name] == shapes[node.name]
