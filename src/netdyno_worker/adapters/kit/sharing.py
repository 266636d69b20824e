"""Which nodes of a program compute the same, so that one of them is enough.

XLA, TensorFlow and torch.compile find this out themselves; frameworks that run op by op compute what they are told.
"""


def without_repeats(program, nodes, wanted):
    """The nodes but for those that repeat an earlier one, whose users read the earlier one. Draws and nodes that move
    running statistics are never the same; a value that is `wanted` keeps its name."""
    first, renamed, kept = {}, {}, []
    for node in nodes:
        node = node._replace(inputs=[renamed.get(name, name) for name in node.inputs])
        facts = program.facts[node.op]
        if not facts.random and not facts.state:
            known = first.setdefault(_computation(node), node.name)
            if known != node.name and node.name not in wanted:
                renamed[node.name] = known
                continue
        kept.append(node)
    return kept


def _computation(node):
    return node.op, tuple(node.inputs), tuple(node.shape), node.kind, repr(sorted(node.attributes.items()))
