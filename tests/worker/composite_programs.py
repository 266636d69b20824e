"""Which small programs show composite ops: COMPOSITES = {case name: wire form}.

An adapter is given these as they are where it has a kernel for the op, and lowered where it has none.
"""

from one_op import SIDE, case, plain
from small_networks import repeated_pools, residual

_IMAGES, _MATRIX = [("x", SIDE)], [("x", [3, 4])]
_STEPS = [3, 4, 5]  # three sequences of four steps with five features


def _sequences(wire):
    """The same of sequences: whatever has three axes is one."""
    for part in ("inputs", "parameters", "nodes"):
        for value in wire["graph"][part]:
            value["kind"] = "sequence" if len(value["shape"]) == 3 else value["kind"]
    return wire


def _normed(op, shape, channels, **attributes):
    vectors = [("scale", [channels], 0.5, 1.5), ("shift", [channels], -0.5, 0.5)]
    return case(op, [("x", shape), *vectors], shape, **attributes)


def _attended(query, key, value, shape, causal=False):
    return plain(case("attention", [("query", query), ("key", key), ("value", value)], shape, causal=causal))


def _recurrent(op, gates, hidden=2):
    batch, steps, features = _STEPS
    weights = [("input_weight", [gates * hidden, features]), ("hidden_weight", [gates * hidden, hidden])]
    biases = [("input_bias", [gates * hidden]), ("hidden_bias", [gates * hidden])]
    return _sequences(case(op, [("x", _STEPS), *weights, *biases], [batch, steps, hidden]))


COMPOSITES = {
    "global_mean_pool/plain": case("global_mean_pool", _IMAGES, [2, 4]),
    "local_response_norm/narrow": case("local_response_norm", _IMAGES, SIDE, size=3, alpha=0.5, beta=0.75, k=2.0),
    "local_response_norm/wider_than_channels": case(
        "local_response_norm", _IMAGES, SIDE, size=9, alpha=1.0, beta=0.5, k=1.0
    ),
    "silu/images": case("silu", _IMAGES, SIDE),
    "silu/plain": case("silu", _MATRIX, [3, 4]),
    "relu6/images": case("relu6", [("x", SIDE, -4.0, 10.0)], SIDE),
    "hard_swish/images": case("hard_swish", [("x", SIDE, -5.0, 5.0)], SIDE),
    "hard_swish/plain": case("hard_swish", [("x", [3, 4], -5.0, 5.0)], [3, 4]),
    "gelu/erf": case("gelu", [("x", [3, 4], -3.0, 3.0)], [3, 4], form="erf"),
    "gelu/erf_of_images": case("gelu", [("x", SIDE, -3.0, 3.0)], SIDE, form="erf"),
    "gelu/tanh": case("gelu", [("x", [3, 4], -3.0, 3.0)], [3, 4], form="tanh"),
    "layer_norm/rows": _normed("layer_norm", [3, 4], 4, epsilon=1e-5),
    "layer_norm/sequences": _sequences(_normed("layer_norm", _STEPS, 5, epsilon=0.1)),
    "group_norm/two": _normed("group_norm", SIDE, 4, groups=2, epsilon=1e-5),
    "group_norm/one": _normed("group_norm", SIDE, 4, groups=1, epsilon=0.1),
    "attention/all": _attended([2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]),
    "attention/causal": _attended([2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5], causal=True),
    "attention/of_others": _attended([2, 3, 4, 5], [2, 3, 6, 5], [2, 3, 6, 2], [2, 3, 4, 2]),
    "rnn/sequences": _recurrent("rnn", 1),
    "lstm/sequences": _recurrent("lstm", 4),
    "gru/sequences": _recurrent("gru", 3),
    "network/residual": residual(composite=True),
    "network/repeated pools": repeated_pools(),
}
