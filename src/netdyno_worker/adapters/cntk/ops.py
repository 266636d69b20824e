"""What each op of a program is in CNTK, and how nodes become a static graph by these rules.

A loss is kept as one value per sample: CNTK sums over the batch in its trainer, so the mean is taken there.
"""

import math
from collections import namedtuple

import cntk
import numpy as np

from netdyno_worker.adapters.cntk import windows
from netdyno_worker.adapters.cntk.arrays import ARRAYS, power
from netdyno_worker.adapters.cntk.batches import element_count, is_whole
from netdyno_worker.adapters.cntk.leaves import reformed, wanted_form
from netdyno_worker.contract import Unsupported
from netdyno_worker.program import inputs_by_role, layer_places, nodes_for, shapes

# What a rule may ask: its node, its inputs as CNTK values and their shapes in the graph, how values lie, a seed for
# draws, whether on a GPU, and where variables and parameters come from.
Site = namedtuple("Site", "node inputs shapes batches seed gpu leaves")

LINEAR = ("add", "subtract", "scale", "stop_gradient")  # in a scalar, which is kept per sample


def translate(job, targets, leaves, spare=False):
    """{name: CNTK value} of everything that `targets` need.

    With `spare`, batch norms move separate running statistics that nothing reads: such a graph can be evaluated in
    training mode without changing the trainer's.
    """
    values, known = {}, shapes(job.program)
    for node in nodes_for(job.program, targets):
        met = [known[name] for name in node.inputs]
        inputs = [_operand(node, place, values, leaves) for place in range(len(node.inputs))]
        inputs = _laid_out(node, inputs, met, leaves)
        if spare:
            inputs = _with_spare_state(job.program, node, inputs)
        seed = (job.seed + node.attributes.get("seed", 0)) % 2**31
        site = Site(node, inputs, met, leaves.batches, seed, job.device == "cuda", leaves)
        values[node.name] = RULES[node.op](site)
    for name in targets:
        if name not in values:
            values[name] = _leaf(name, leaves)
    return values


def per_sample(loss, leaves):
    """A loss as CNTK trains on it, which must see a batch: one that is whole counts the same for each sample."""
    return loss if loss.arguments and not is_whole(loss) else loss + leaves.zeros(())


def _with_spare_state(program, node, inputs):
    roles, state = inputs_by_role(program, node), program.facts[node.op].state
    return [
        cntk.constant(0, shape=x.shape, dtype=x.dtype) if role in state else x for (role, _), x in zip(roles, inputs)
    ]


def _operand(node, place, values, leaves):
    """Weights and state in the form that CNTK's layers want, all else as it lies."""
    role, name = inputs_by_role(leaves.program, node)[place]
    if place in layer_places(leaves.program, node):
        return _weight(node, place, values, leaves)
    if name not in values and role == "labels":
        return None  # made by the rule, which knows the number of classes
    return values[name] if name in values else _leaf(name, leaves)


def _weight(node, place, values, leaves):
    name, form = node.inputs[place], wanted_form(node.op, place)
    if leaves.is_parameter(name):
        return leaves.parameter(name, form)
    if name not in values or not is_whole(values[name]):
        raise Unsupported("%s '%s': what it learns must not come from the batch in CNTK" % (node.op, node.name))
    return reformed(values[name], "plain", form)


def _leaf(name, leaves):
    return leaves.parameter(name, "plain") if leaves.is_parameter(name) else leaves.data(name)


def _laid_out(node, inputs, met, leaves):
    """Data per sample, but as it lies for ARRAYS; a scalar whole, but as it lies for what is linear in it."""
    batches, places = leaves.batches, layer_places(leaves.program, node)
    if node.op in ARRAYS:
        if node.op in LINEAR and not node.shape:
            return inputs
        return [x if shape else batches.whole(x, shape) for x, shape in zip(inputs, met)]
    return [
        x if x is None or place in places else batches.dealt(x, shape)
        for place, (x, shape) in enumerate(zip(inputs, met))
    ]


def _convolution(site):
    _refuse_folded(site)
    y = windows.convolution(site.inputs[0], site.inputs[1], site.node.attributes)
    return y + site.inputs[2] if len(site.inputs) > 2 else y


def _transposed_convolution(site):
    _refuse_folded(site)
    y = windows.transposed_convolution(site.inputs[0], site.inputs[1], site.node)
    return y + site.inputs[2] if len(site.inputs) > 2 else y


def _refuse_folded(site):
    if not site.batches.hides_first(site.shapes[0]):
        found = (site.node.op, site.node.name, site.batches.size, site.shapes[0])
        raise Unsupported("%s '%s': CNTK has one batch axis for all values: of %d samples, received %s" % found)


def _linear(site):
    y = cntk.times(site.inputs[0], site.inputs[1])
    return y + site.inputs[2] if len(site.inputs) > 2 else y


def _windowed(function):
    def rule(site):
        _refuse_folded(site)
        return function(site.inputs[0], site.node.attributes)

    return rule


def _batch_norm(site):
    _refuse_folded(site)
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
        normalization_time_constant=-site.batches.size / math.log(1.0 - momentum) if momentum < 1 else 0.0,
        blend_time_constant=0,
        epsilon=site.node.attributes["epsilon"],
        use_cudnn_engine=site.gpu,
        # Not 0: with nothing counted yet, the first batch would replace the statistics instead of moving them.
        running_count=cntk.constant(1.0, dtype=site.leaves.dtype),
    )


def _local_response_norm(site):
    """Near channels are summed as rows of a one-channel image, in a third of the time that CNTK's own op takes."""
    _refuse_folded(site)
    x, attributes = site.inputs[0], site.node.attributes
    size, channels = attributes["size"], x.shape[0]
    kernel = cntk.constant(np.full((1, 1, size, 1), attributes["alpha"] / size, site.leaves.dtype))
    rows = cntk.reshape(cntk.square(x), (1, channels, -1))
    sliding = {"strides": (1, 1), "padding": (size // 2, size // 2, 0, 0), "groups": 1}
    total = cntk.reshape(windows.convolution(rows, kernel, sliding), x.shape)
    return x * power(total + attributes["k"], -attributes["beta"])


def _dropout(site):
    rate = site.node.attributes["rate"]
    return cntk.dropout(site.inputs[0], rate, seed=site.seed) if rate else site.inputs[0]


def _cross_entropy(site):
    logits, labels = site.inputs
    classes = site.shapes[0][1]
    if labels is None:
        marks = site.leaves.one_hot(site.node.inputs[1], classes)
    else:
        marks = cntk.reshape(cntk.one_hot(labels, classes), logits.shape)
    if len(logits.shape) == 1:
        return cntk.cross_entropy_with_softmax(logits, marks)
    rows = cntk.reduce_log_sum_exp(logits, axis=1) - cntk.reduce_sum(logits * marks, axis=1)
    return cntk.reduce_sum(rows) * (1.0 / logits.shape[0])


def _squared_error(site):
    x, target = site.inputs
    return cntk.squared_error(x, target) * (1.0 / element_count(x.shape))


def _binary_cross_entropy(site):
    """relu(l) - l t + log(1 + exp(-|l|)), with |l| = 2 relu(l) - l so that the gradient at 0 is right too."""
    logits, target = site.inputs
    positive = cntk.relu(logits)
    terms = positive - logits * target + cntk.log(1.0 + cntk.exp(logits - 2.0 * positive))
    return cntk.reduce_sum(terms) * (1.0 / element_count(logits.shape))


def _gaussian_kl(site):
    mean, log_variance = site.inputs
    share = -0.5 * site.batches.size / site.shapes[0][0]
    return share * cntk.reduce_sum(1.0 + log_variance - mean * mean - cntk.exp(log_variance))


def _bernoulli(site):
    probability = cntk.stop_gradient(site.inputs[0])
    drawn = cntk.random.uniform_like(probability, seed=site.seed)
    return cntk.stop_gradient(cntk.less(drawn, probability))


def _normal(site):
    like = site.leaves.zeros(site.batches.inner(site.node.shape))
    return cntk.stop_gradient(cntk.random.normal_like(like, seed=site.seed))


RULES = dict(
    ARRAYS,
    convolution=_convolution,
    transposed_convolution=_transposed_convolution,
    linear=_linear,
    max_pool=_windowed(windows.max_pool),
    mean_pool=_windowed(windows.mean_pool),
    global_mean_pool=_windowed(lambda x, attributes: windows.global_mean_pool(x)),
    batch_norm=_batch_norm,
    local_response_norm=_local_response_norm,
    dropout=_dropout,
    softmax_cross_entropy=_cross_entropy,
    mean_squared_error=_squared_error,
    binary_cross_entropy=_binary_cross_entropy,
    gaussian_kl=_gaussian_kl,
    bernoulli=_bernoulli,
    normal=_normal,
)

FUSED = {"local_response_norm", "global_mean_pool"}
