"""Which operators make up a net: a forward pass, the gradients that are wanted, the optimizer's updates."""

from collections import namedtuple

from caffe2.python import core

from netdyno_worker.adapters.caffe2.ops import ONE, Emitter
from netdyno_worker.adapters.caffe2.optimizers import RULES
from netdyno_worker.program import nodes_for

# net: the core.Net; blobs: {name of a value: blob}; gradients: {parameter: blob}; constants: {blob: number};
# moments: {blob: parameter whose shape it has}.
Plan = namedtuple("Plan", "net blobs gradients constants moments")

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
            RULES[update.optimizer["kind"]](plan, parameter, update.optimizer)
    return plan


def _prune(proto, wanted):
    """Drop what nothing reads: the library makes gradients for everything, data and other parameters included."""
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
