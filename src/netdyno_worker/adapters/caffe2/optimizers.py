"""Which Caffe2 operators move a parameter, and the numbers that Adam's read before each step."""

from netdyno_worker.adapters.caffe2.ops import ONE
from netdyno_worker.adapters.kit.adam import adam_epsilon, adam_rate

# What an Adam update reads and must be fed before each step, by the name of its net: see adam_corrections.
ADAM_EPSILON, ADAM_RATE = "%s/epsilon", "%s/rate"


def adam_corrections(rule, net, step):
    """(blob, number) to be fed to the net of that name before its `step`-th step, counted from 1."""
    powers = rule["beta1"] ** step, rule["beta2"] ** step
    epsilon, rate = adam_epsilon(rule["epsilon"], powers[1]), adam_rate(rule["learning_rate"], *powers)
    return (ADAM_EPSILON % net, epsilon), (ADAM_RATE % net, -rate)


def _sgd(plan, parameter, rule):
    rate = _constant(plan, -rule["learning_rate"])
    plan.net.WeightedSum([parameter, ONE, plan.gradients[parameter], rate], parameter)


def _momentum(plan, parameter, rule):
    """The operator keeps the rate times the velocity, which is the same as long as the rate is constant."""
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


# Each adds the operators that move a parameter to a plan's net.
RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}


def _constant(plan, number):
    blob = "constant/%r" % number
    plan.constants[blob] = number
    return blob


def _moment(plan, parameter, kind):
    blob = "%s/%s/%s" % (plan.net.Name(), kind, parameter)
    plan.moments[blob] = parameter
    return blob
