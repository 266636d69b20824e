"""What each op of a program is in CNTK, and how nodes become a static graph by these rules.

A loss is kept as one value per sample: CNTK sums over the batch in its trainer, so the mean is taken there. That
allows what is linear in a loss and nothing else.
"""

import math
from collections import namedtuple

import cntk
import numpy as np

from netdyno_worker.adapters.cntk import windows
from netdyno_worker.adapters.cntk.leaves import wanted_form
from netdyno_worker.contract import Unsupported
from netdyno_worker.program import inputs_by_role, layer_places, nodes_for

# What a rule may ask: its node, its inputs as CNTK values, the batch's size, a seed for draws, whether on a GPU,
# and where variables and parameters come from.
Site = namedtuple("Site", "node inputs batch seed gpu leaves")

LINEAR = ("add", "scale", "stop_gradient")


def translate(job, targets, leaves, spare=False):
    """{name: CNTK value} of everything that `targets` need.

    With `spare`, batch norms move separate running statistics that nothing reads: such a graph can be evaluated in
    training mode without changing the trainer's.
    """
    values = {}
    scalars = {node.name for node in job.program.nodes if not node.shape}
    for node in nodes_for(job.program, targets):
        if node.op not in LINEAR and scalars.intersection(node.inputs):
            raise Unsupported("%s '%s': CNTK keeps a loss per sample, to add and to scale" % (node.op, node.name))
        inputs = [_operand(node, place, values, leaves) for place in range(len(node.inputs))]
        if spare:
            inputs = _with_spare_state(job.program, node, inputs)
        seed = (job.seed + node.attributes.get("seed", 0)) % 2**31
        values[node.name] = RULES[node.op](Site(node, inputs, leaves.batch, seed, job.device == "cuda", leaves))
    for name in targets:
        if name not in values:
            values[name] = leaves.dealt(name) if leaves.is_parameter(name) else leaves.data(name)
    return values


def _with_spare_state(program, node, inputs):
    roles, state = inputs_by_role(program, node), program.facts[node.op].state
    return [
        cntk.constant(0, shape=x.shape, dtype=x.dtype) if role in state else x for (role, _), x in zip(roles, inputs)
    ]


def _operand(node, place, values, leaves):
    """Where CNTK's layers keep what they learn, a parameter without batch."""
    role, name = inputs_by_role(leaves.program, node)[place]
    if place in layer_places(leaves.program, node):
        if not leaves.is_parameter(name):
            raise Unsupported("%s '%s': its weights must be parameters in CNTK" % (node.op, node.name))
        return leaves.parameter(name, wanted_form(node.op, place))
    if name in values:
        return values[name]
    if role == "labels":
        return None  # made by the rule, which knows the number of classes
    return leaves.dealt(name) if leaves.is_parameter(name) else leaves.data(name)


def _convolution(site):
    y = windows.convolution(site.inputs[0], site.inputs[1], site.node.attributes)
    return y + site.inputs[2] if len(site.inputs) > 2 else y


def _linear(site):
    y = cntk.times(site.inputs[0], site.inputs[1])
    return y + site.inputs[2] if len(site.inputs) > 2 else y


def _batch_norm(site):
    x, scale, shift, mean, variance = site.inputs
    momentum = site.node.attributes["momentum"]
    return cntk.batch_normalization(
        x,
        scale,
        shift,
        mean,
        variance,
        spatial=len(x.shape) > 1,
        # CNTK moves statistics by 1 - exp(-batch / constant).
        normalization_time_constant=-site.batch / math.log(1.0 - momentum) if momentum < 1 else 0.0,
        blend_time_constant=0,
        epsilon=site.node.attributes["epsilon"],
        use_cudnn_engine=site.gpu,
        # Not 0: with nothing counted yet, the first batch would replace the statistics instead of moving them.
        running_count=cntk.constant(1.0, dtype=site.leaves.dtype),
    )


def _local_response_norm(site):
    """Near channels are summed as rows of a one-channel image, in a third of the time that CNTK's own op takes."""
    x, attributes = site.inputs[0], site.node.attributes
    size, channels = attributes["size"], x.shape[0]
    kernel = cntk.constant(np.full((1, 1, size, 1), attributes["alpha"] / size, site.leaves.dtype))
    rows = cntk.reshape(cntk.square(x), (1, channels, -1))
    sliding = {"strides": (1, 1), "padding": (size // 2, size // 2, 0, 0), "groups": 1}
    total = cntk.reshape(windows.convolution(rows, kernel, sliding), x.shape)
    return x * _power(total + attributes["k"], -attributes["beta"])


def _power(x, exponent):
    """By exponential and logarithm, because the gradient of CNTK's pow comes out as not a number."""
    return cntk.exp(cntk.log(x) * exponent)


def _dropout(site):
    rate = site.node.attributes["rate"]
    return cntk.dropout(site.inputs[0], rate, seed=site.seed) if rate else site.inputs[0]


def _flatten(site):
    return cntk.reshape(site.inputs[0], (site.node.shape[1],))


def _cross_entropy(site):
    labels = site.leaves.one_hot(site.node.inputs[1], site.inputs[0].shape[0])
    return cntk.cross_entropy_with_softmax(site.inputs[0], labels)


def _squared_error(site):
    x, target = site.inputs
    return cntk.squared_error(x, target) * (1.0 / _size(x.shape))


def _binary_cross_entropy(site):
    """relu(l) - l t + log(1 + exp(-|l|)), with |l| = 2 relu(l) - l so that the gradient at 0 is right too."""
    logits, target = site.inputs
    positive = cntk.relu(logits)
    terms = positive - logits * target + cntk.log(1.0 + cntk.exp(logits - 2.0 * positive))
    return cntk.reduce_sum(terms) * (1.0 / _size(logits.shape))


def _gaussian_kl(site):
    mean, log_variance = site.inputs
    return -0.5 * cntk.reduce_sum(1.0 + log_variance - mean * mean - cntk.exp(log_variance))


def _bernoulli(site):
    probability = cntk.stop_gradient(site.inputs[0])
    drawn = cntk.random.uniform_like(probability, seed=site.seed)
    return cntk.stop_gradient(cntk.less(drawn, probability))


def _normal(site):
    like = site.leaves.zeros(site.node.attributes["shape"][1:])
    return cntk.stop_gradient(cntk.random.normal_like(like, seed=site.seed))


def _size(shape):
    return int(np.prod(shape))


RULES = {
    "convolution": _convolution,
    "linear": _linear,
    "max_pool": lambda site: windows.max_pool(site.inputs[0], site.node.attributes),
    "mean_pool": lambda site: windows.mean_pool(site.inputs[0], site.node.attributes),
    "global_mean_pool": lambda site: windows.global_mean_pool(site.inputs[0]),
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "relu": lambda site: cntk.relu(site.inputs[0]),
    "tanh": lambda site: cntk.tanh(site.inputs[0]),
    "sigmoid": lambda site: cntk.sigmoid(site.inputs[0]),
    "dropout": _dropout,
    "flatten": _flatten,
    "add": lambda site: cntk.plus(*site.inputs),
    "multiply": lambda site: cntk.element_times(*site.inputs),
    "scale": lambda site: site.inputs[0] * site.node.attributes["factor"],
    "power": lambda site: _power(site.inputs[0], site.node.attributes["exponent"]),
    "concat": lambda site: cntk.splice(*site.inputs, axis=0),
    "softmax_cross_entropy": _cross_entropy,
    "mean_squared_error": _squared_error,
    "binary_cross_entropy": _binary_cross_entropy,
    "gaussian_kl": _gaussian_kl,
    "stop_gradient": lambda site: cntk.stop_gradient(site.inputs[0]),
    "bernoulli": _bernoulli,
    "normal": _normal,
}

FUSED = {"local_response_norm", "global_mean_pool"}
