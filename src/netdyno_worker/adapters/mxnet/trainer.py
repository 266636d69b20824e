"""Trains a program with MXNet: each update's loss is a symbol bound to the arrays, as Module does underneath.

MXNet plans a bound symbol as a whole, with its memory, and fused ops update the parameters in place.
"""

import os
from collections import OrderedDict

import mxnet as mx
import numpy as np

from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.kit.statistics import variance_factors
from netdyno_worker.adapters.mxnet.ops import latest_shares, translate
from netdyno_worker.adapters.mxnet.optimizers import exact_optimizer, optimizer
from netdyno_worker.adapters.mxnet.pipeline import RecordPipeline
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.program import inputs_by_role, nodes_for


def versions():
    return {"mxnet": mx.__version__, "numpy": np.__version__}


def build(job):
    if job.execution != "compiled":
        raise Unsupported("this adapter trains through bound symbols, which MXNet plans as a whole: use 'compiled'")
    _check_precision(job.precision)
    context = _context(job.device)
    mx.random.seed(job.seed % 2**31)
    return MxnetTrainer(job, context)


class MxnetTrainer(Trainer):
    """All updates and probes are bound to the same arrays, so nothing is copied between them."""

    def __init__(self, job, context):
        self._program = job.program
        self._precision = job.precision
        self._kept_type = kept_type(job)
        self._symbols = translate(job.program, job.precision)
        self._variance_factors = variance_factors(job.program)
        self._arrays = _Arrays(context, self._kept_type)
        for parameter in job.program.parameters:
            value = job.initial(parameter.name).astype(self._kept_type)
            self._arrays.add(parameter.name, value / self._variance_factors.get(parameter.name, 1.0))
        for source in job.program.inputs:
            self._arrays.add(source.name, np.zeros(source.shape))
        for name, value in self._symbols.constants.items():
            self._arrays.add(name, value)
        self._updates = [self._update(update) for update in job.program.updates]
        self._outputs = None

    def feed(self, batch):
        for name, array in batch.items():
            self._arrays[name][:] = np.asarray(array, dtype=self._kept_type)

    def step(self):
        for update in self._updates:
            update.run()

    def wait(self):
        mx.nd.waitall()
        for update in self._updates:
            update.raise_errors()

    def pipeline(self, files):
        inputs = filled_inputs(self._program, files)
        return RecordPipeline(files, inputs, [self._arrays[inputs.images], self._arrays[inputs.labels]])

    def settings(self):
        return {
            "layout": "nchw",
            "products": self._precision,
            "engine": os.environ.get("MXNET_ENGINE_TYPE", "default"),
            "optimizer": ", ".join(update.optimizer for update in self._updates),
        }

    def _update(self, update):
        values = self._symbols.values
        idle = _unmoved(self._program, update)
        heads = [mx.sym.make_loss(values[update.loss])]
        # A gradient of 0 through them, requested for their shifts, makes their backward pass run.
        heads += [mx.sym.MakeLoss(values[node.name], grad_scale=0.0) for node in idle]
        shifts = [dict(inputs_by_role(self._program, node))["shift"] for node in idle]
        shares = latest_shares(self._program) if self._precision == "float64" else None
        return _Update(update, mx.sym.Group(heads), shifts, self._arrays, shares)

    def _read_outputs(self):
        names = self._program.outputs
        if self._outputs is None:
            self._outputs = self._arrays.bind_probe(mx.sym.Group([self._symbols.values[name] for name in names]))
        self._arrays.refresh(self._outputs)
        found = self._outputs.forward(is_train=True)
        return self._shaped({name: array.asnumpy() for name, array in zip(names, found)})

    def _read_losses(self):
        return {update.name: update.last_loss() for update in self._updates}

    def _read_gradients(self):
        found = {}
        for update in self._updates:
            for name, array in update.gradients().items():
                found[update.name + "/" + name] = array
        return found

    def _read_parameters(self):
        factors = self._variance_factors
        names = [parameter.name for parameter in self._program.parameters]
        number = self._kept_type.type
        return {name: self._arrays[name].asnumpy() * number(factors.get(name, 1.0)) for name in names}

    def _shaped(self, arrays):
        """A loss has one element here and no dimension in the graph."""
        scalars = {node.name for node in self._program.nodes if node.shape == ()}
        return {name: array.reshape(()) if name in scalars else array for name, array in arrays.items()}


def _unmoved(program, update):
    """The batch norms that the update's loss depends on but whose backward pass it does not need.

    MXNet moves running statistics in the backward pass, the graph whenever the loss depends on them.
    """
    nodes, facts = nodes_for(program, [update.loss]), program.facts
    trained, flowing = set(update.parameters), {update.loss}
    for node in nodes:
        if not facts[node.op].blocks_gradient and trained.intersection(node.inputs):
            trained.add(node.name)
    for node in reversed(nodes):
        if not facts[node.op].blocks_gradient and node.name in flowing:
            flowing.update(node.inputs)
    return [node for node in nodes if facts[node.op].state and node.name not in trained & flowing]


class _Update(object):
    """Minimises one loss over its own parameters; no gradient is requested for the others."""

    def __init__(self, update, symbol, also, arrays, shares):
        """The loss is the first output of `symbol`; gradients of the parameters `also` are requested but not used.

        `shares`, given in float64, are how much the latest statistics count: ops round that number to float32.
        """
        self.name = update.name
        self.optimizer = "%s (%s)" % (update.optimizer["kind"], "fused" if shares is None else "plain ops")
        self._arrays = arrays
        self._parameters = update.parameters
        self._symbol = symbol
        used = set(symbol.list_arguments())
        self._trained = [name for name in update.parameters if name in used]
        self._requested = self._trained + also
        self._executor = (arrays.bind if shares is None else arrays.bind_probe)(symbol, self._requested)
        states = self._executor.aux_dict if shares else {}
        self._latest = [(arrays[name], states[name], shares[name]) for name in sorted(states)]
        gradients = [self._executor.grad_dict[name] for name in self._trained]
        choose = optimizer if shares is None else exact_optimizer
        self._move = choose(update.optimizer, [arrays[name] for name in self._trained], gradients)

    def run(self):
        self._executor.forward(is_train=True)
        self._executor.backward()
        self._move()
        if self._latest:
            mx.nd.waitall()  # a backward pass writes statistics, and the engine does not know it
        for running, latest, share in self._latest:
            running += (latest - running) * share

    def raise_errors(self):
        """Errors in the engine's threads are raised only when an array is read; in 1.2 not even by waitall."""
        for name in self._trained:
            self._arrays[name].wait_to_read()

    def last_loss(self):
        return float(self._executor.outputs[0].asnumpy()[0])

    def gradients(self):
        """At the current parameters; zeros where the loss does not depend on one."""
        probe = self._arrays.bind_probe(self._symbol, self._requested)
        probe.forward(is_train=True)
        probe.backward()
        arrays = [(name, self._arrays[name]) for name in self._parameters]
        found = OrderedDict((name, np.zeros(array.shape, array.dtype)) for name, array in arrays)
        found.update((name, probe.grad_dict[name].asnumpy()) for name in self._trained)
        return found


class _Arrays(object):
    """Parameters, inputs and constants on the device, by name."""

    def __init__(self, context, kept_type):
        self._context = context
        self._kept_type = kept_type
        self._arrays = {}

    def __getitem__(self, name):
        return self._arrays[name]

    def add(self, name, value):
        self._arrays[name] = mx.nd.array(value, ctx=self._context, dtype=self._kept_type)

    def bind(self, symbol, trained):
        """An executor over these arrays, with arrays of its own for the gradients of `trained`."""
        return self._bind(symbol, trained, {name: self[name] for name in symbol.list_auxiliary_states()})

    def bind_probe(self, symbol, trained=()):
        """The same for reading values: it moves copies of the running statistics."""
        return self._bind(symbol, trained, {name: self[name].copy() for name in symbol.list_auxiliary_states()})

    def refresh(self, probe):
        """Let a probe that is used again start from the running statistics as they are."""
        for name, copy in probe.aux_dict.items():
            self[name].copyto(copy)

    def _zeros(self, shape):
        return mx.nd.zeros(shape, ctx=self._context, dtype=self._kept_type)

    def _bind(self, symbol, trained, states):
        arguments = {name: self[name] for name in symbol.list_arguments()}
        gradients = {name: self._zeros(arguments[name].shape) for name in trained}
        requests = {name: "write" if name in gradients else "null" for name in arguments}
        return symbol.bind(self._context, arguments, gradients, requests, states)


def _check_precision(precision):
    if precision == "float16":
        raise Unsupported("MXNet multiplies no matrices of float16 on a CPU; use bfloat16")
    if precision == "bfloat16" and not hasattr(mx.sym, "amp_cast"):
        raise Unsupported("MXNet %s trains in float32 only; bfloat16 came with 1.6" % mx.__version__)
    if precision == "tf32":
        raise Unsupported("tf32 is arithmetic of NVIDIA GPUs, which this adapter switches off")


def _context(device):
    if device == "cpu":
        return mx.cpu()
    try:
        mx.nd.zeros((1,), ctx=mx.gpu(0)).wait_to_read()
    except mx.base.MXNetError:
        raise Unsupported("this build of MXNet %s finds no CUDA device" % mx.__version__)
    return mx.gpu(0)


UNSUPPORTED = {
    "add/scalar": "MXNet has no value without axes",
    "subtract/scalar": "MXNet has no value without axes",
    "multiply/scalar": "MXNet has no value without axes",
    "divide/scalar": "MXNet has no value without axes",
    "erf": "MXNet has an error function since 1.3",
}
if hasattr(mx.sym, "erf"):
    del UNSUPPORTED["erf"]
