"""Which operators make up a net: a forward pass, the gradients that are wanted, the optimizer's updates."""

from collections import namedtuple

from caffe2.python import core

from netdyno_worker.adapters.caffe2.ops import ONE, Emitter
from netdyno_worker.program import nodes_for

# net: the core.Net; blobs: {name of a value: blob}; gradients: {parameter: blob}; constants: {blob: number};
# moments: {blob: parameter whose shape it has}.
Plan = namedtuple("Plan", "net blobs gradients constants moments")

# What an Adam update reads and must be fed anew before each step, by the name of its net:
# epsilon times the root's correction, and minus the rate times both corrections.
ADAM_EPSILON, ADAM_RATE = "%s/epsilon", "%s/rate"

# The last output of these is the gradient to the data, and may be left out.
_MAY_SKIP_DATA = ("ConvGradient", "FCGradient")


def plan_outputs(program):
    """A forward pass only."""
    net = core.Net("outputs")
    emitter = Emitter(net, program, nodes_for(program, program.outputs))
    emitter.emit(program.outputs, ())
    return Plan(net, {o: emitter.blob_of(o) for o in program.outputs}, {}, {ONE: 1.0}, {})


def plan_update(program, update, moving):
    """A forward pass, its gradients and, if `moving`, the update of the parameters."""
    net = core.Net("update" if moving else "gradients")  # the library numbers those of one name
    emitter = Emitter(net, program, nodes_for(program, [update.loss]))
    emitter.emit([update.loss], update.parameters)
    loss = emitter.blob_of(update.loss)
    found = {str(blob): str(gradient) for blob, gradient in net.AddGradientOperators([loss]).items()}
    gradients = {p: found[p] for p in update.parameters if p in found}
    _prune(net.Proto(), [loss] + list(gradients.values()))
    plan = Plan(net, {update.loss: loss}, gradients, {ONE: 1.0}, {})
    if moving:
        for parameter in gradients:
            _RULES[update.optimizer["kind"]](plan, parameter, update.optimizer)
    return plan


def _prune(proto, wanted):
    """Drop what nobody reads: the library makes gradients to everything, data and foreign parameters included."""
    needed = set(wanted)
    kept = []
    for operator in reversed(proto.op):
        if not needed.intersection(operator.output):
            continue
        if operator.type in _MAY_SKIP_DATA and operator.output[-1] not in needed:
            del operator.output[-1]
        needed.difference_update(operator.output)
        needed.update(operator.input)
        kept.append(type(operator).FromString(operator.SerializeToString()))
    del proto.op[:]
    proto.op.extend(reversed(kept))


def _sgd(plan, parameter, rule):
    rate = _constant(plan, -rule["learning_rate"])
    plan.net.WeightedSum([parameter, ONE, plan.gradients[parameter], rate], parameter)


def _momentum(plan, parameter, rule):
    """The operator keeps rate times our velocity, which is the same as long as the rate stays the same."""
    velocity = _moment(plan, parameter, "velocity")
    gradient = plan.gradients[parameter]
    rate = _constant(plan, rule["learning_rate"])
    shared = list(plan.gradients.values()).count(gradient) > 1  # as under a sum of two parameters
    outputs = [velocity + "/change" if shared else gradient, velocity, parameter]
    plan.net.MomentumSGDUpdate([gradient, velocity, rate, parameter], outputs, momentum=rule["momentum"], nesterov=0)


def _adam(plan, parameter, rule):
    """In single operators: the library's own Adam adds epsilon before it corrects the root's bias."""
    net, gradient = plan.net, plan.gradients[parameter]
    first, second = _moment(plan, parameter, "first"), _moment(plan, parameter, "second")
    beta1, beta2 = rule["beta1"], rule["beta2"]
    net.WeightedSum([first, _constant(plan, beta1), gradient, _constant(plan, 1 - beta1)], first)
    squares = net.Sqr(gradient, first + "/squares")
    net.WeightedSum([second, _constant(plan, beta2), squares, _constant(plan, 1 - beta2)], second)
    root = net.Sqrt(second, second + "/root")
    epsilon, rate = ADAM_EPSILON % net.Name(), ADAM_RATE % net.Name()
    plan.constants.update({epsilon: 0.0, rate: 0.0})
    divisor = net.Add([root, epsilon], second + "/divisor")
    change = net.Div([first, divisor], first + "/change")
    net.WeightedSum([parameter, ONE, change, rate], parameter)


_RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}


def _constant(plan, number):
    blob = "constant/%r" % number
    plan.constants[blob] = number
    return blob


def _moment(plan, parameter, kind):
    blob = "%s/%s/%s" % (plan.net.Name(), kind, parameter)
    plan.moments[blob] = parameter
    return blob
