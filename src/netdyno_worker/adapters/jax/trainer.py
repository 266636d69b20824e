"""Trains a program with JAX: every update of a step in one function that XLA compiles, with donated state.

The program is walked while the function is traced, and a step is then one call that updates its buffers in place.
"""

import os
from collections import namedtuple

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import lax

from netdyno_worker.adapters.jax.forms import from_form, to_form
from netdyno_worker.adapters.jax.ops import Ops
from netdyno_worker.adapters.jax.optimizers import Optimizer
from netdyno_worker.adapters.jax.windows import widened
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.contract import OutOfMemory, Trainer, Unsupported
from netdyno_worker.program import nodes_for


def versions():
    return {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": np.__version__}


def build(job):
    if job.execution != "compiled":
        raise Unsupported("JAX trains through jit; run op by op it is not what its users run")
    _check_precision(job)
    _choose_platform(job.device)
    if job.precision == "float64":
        jax.config.update("jax_enable_x64", True)  # otherwise JAX narrows every array
    return JaxTrainer(job)


class JaxTrainer(Trainer):
    """Holds the state on the device: parameters, then the optimizers' states, then the step count."""

    def __init__(self, job):
        self._plan = Plan(job)
        self._step = jax.jit(self._plan.step, donate_argnums=(0, 1, 2))
        self._gradients = jax.jit(self._plan.gradients)
        self._outputs = jax.jit(self._plan.outputs)
        self._device = jax.devices()[0]
        self._precision = job.precision
        self._type = kept_type(job)
        self._parameters = [self._place(to_form(job.initial(n), f)) for n, f in self._plan.parameters.items()]
        # Placed on the device by name, as a step's results will be: else the second step would be compiled again.
        self._states = jax.device_put(self._plan.first_states(), self._device)
        self._count = jax.device_put(jnp.zeros((), jnp.int32), self._device)
        self._batch = None
        self._losses = ()
        self._partial = ()

    def feed(self, batch):
        placed = []
        for source in self._plan.program.inputs:
            placed.append(self._place(to_form(np.asarray(batch[source.name]), source.kind)))
        self._batch = placed

    def step(self):
        try:
            self._parameters, self._states, self._count, self._losses = self._step(
                self._parameters, self._states, self._count, self._batch
            )
        except jax.errors.JaxRuntimeError as error:
            raise _translated(error)

    def wait(self):
        try:
            jax.block_until_ready((self._losses, self._parameters, self._states, self._batch, self._partial))
        except jax.errors.JaxRuntimeError as error:
            raise _translated(error)

    def read(self, what):
        plan = self._plan
        if what == "losses":
            return {u.name: float(loss) for u, loss in zip(plan.program.updates, self._losses)}
        if what == "parameters":
            return _read_values(zip(plan.parameters, self._parameters), plan.forms)
        if what == "outputs":
            values = self._outputs(self._parameters, self._count, self._batch)
            return _read_values(zip(plan.program.outputs, values), plan.forms)
        found = {}
        for update, descent in zip(plan.program.updates, self._descents(self._gradients)):
            arrays = _read_values(descent.gradients.items(), plan.forms)
            found.update({update.name + "/" + name: array for name, array in arrays.items()})
        return found

    def peak_bytes(self):
        return self._memory("peak_bytes_in_use")

    def reserved_bytes(self):
        return self._memory("peak_pool_bytes")

    def stages(self):
        """A part of a step is a function of its own to XLA, compiled when it is first called."""
        forward = jax.jit(self._plan.losses)
        return [
            ("forward", lambda: self._keep(self._descents(forward))),
            ("backward", lambda: self._keep(self._descents(self._gradients))),
            ("update", self.step),
        ]

    def settings(self):
        own = self._device.platform != "cpu"
        return {
            "layout": "nhwc",
            "state": "donated",
            "windows": "xla" if own else "rewritten for XLA on the cpu",
            "matmul_precision": "default" if self._precision == "tf32" else "highest",
            "products": "float32" if self._precision == "tf32" else self._precision,
            "loss_scale": "dynamic" if self._precision == "float16" else "none",
        }

    def _descents(self, function):
        return function(self._parameters, self._states, self._count, self._batch)

    def _keep(self, results):
        """Keep the results so that wait() can wait for them."""
        self._partial = results

    def _memory(self, name):
        """None on a CPU, which keeps no statistics."""
        return (self._device.memory_stats() or {}).get(name)

    def _place(self, array):
        """A copy of its own: a donated buffer must not be numpy's."""
        dtype = self._type if array.dtype.kind == "f" else array.dtype
        return jax.device_put(np.array(array, dtype=dtype, order="C"), self._device, may_alias=False)


# loss: of one update. moved: {running statistic: next value}. gradients: {parameter: its gradient}.
Descent = namedtuple("Descent", "loss moved gradients")


class Plan(object):
    """The functions to compile; they walk the nodes only while they are traced."""

    def __init__(self, job):
        self.program = job.program
        self._ops = Ops(job)
        self.forms = self._ops.forms
        self.parameters = {p.name: self.forms[p.name] for p in job.program.parameters}
        self._nodes = [nodes_for(job.program, [update.loss]) for update in job.program.updates]
        self._optimizers = [Optimizer(update, job) for update in job.program.updates]

    def first_states(self):
        """What each update's optimizer starts from."""
        shapes = {
            p.name: to_form(np.empty(p.shape, np.int8), self.forms[p.name]).shape for p in self.program.parameters
        }
        return [optimizer.first_state(shapes) for optimizer in self._optimizers]

    def step(self, parameters, states, count, batch):
        """The next parameters, optimizer states and count, and each update's loss."""
        values = dict(zip(self.parameters, parameters))
        losses, following = [], []
        for number, (optimizer, state) in enumerate(zip(self._optimizers, states)):
            descent = self._descend(number, (values, state, count, batch))
            values.update(descent.moved)
            changed, state = optimizer.moved(values, descent.gradients, state, count)
            values.update(changed)
            losses.append(descent.loss)
            following.append(state)
        return [values[name] for name in self.parameters], following, count + 1, losses

    def gradients(self, parameters, states, count, batch):
        """Each update's Descent, all at the same parameters."""
        return [
            self._descend(number, (self._apart(parameters), state, count, batch))
            for number, state in enumerate(states)
        ]

    def losses(self, parameters, states, count, batch):
        """Each update's (loss, next running statistics)."""
        return [
            self._forward(number, (self._apart(parameters), count, batch)) for number in range(len(self._optimizers))
        ]

    def outputs(self, parameters, count, batch):
        values = self._values(dict(zip(self.parameters, parameters)), batch)
        self._ops.evaluate(nodes_for(self.program, self.program.outputs), values, count)
        return [values[name] for name in self.program.outputs]

    def _apart(self, parameters):
        """Values that XLA treats as different from the next update's, as in a step, so that nothing is shared."""
        return dict(zip(self.parameters, lax.optimization_barrier(list(parameters))))

    def _descend(self, number, at):
        """An update's Descent at (values, optimizer state, count, batch)."""
        values, (_, scale), count, batch = at

        def scaled_loss(trained):
            loss, moved = self._forward(number, (dict(values, **trained), count, batch))
            return loss if scale is None else loss * scale.factor, (loss, moved)

        trained = {name: values[name] for name in self.program.updates[number].parameters}
        (_, (loss, moved)), gradients = jax.value_and_grad(scaled_loss, has_aux=True)(trained)
        if scale is not None:
            gradients = {name: gradient / scale.factor for name, gradient in gradients.items()}
        return Descent(loss, moved, gradients)

    def _forward(self, number, at):
        """(loss, {running statistic: next value}) of an update at (values, count, batch)."""
        state, count, batch = at
        values = self._values(state, batch)
        moved = self._ops.evaluate(self._nodes[number], values, count)
        return values[self.program.updates[number].loss], moved

    def _values(self, state, batch):
        values = {source.name: array for source, array in zip(self.program.inputs, batch)}
        values.update(state)
        return values


def _check_precision(job):
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is arithmetic of NVIDIA GPUs, received device '%s'" % job.device)


def _choose_platform(device):
    """Must come before JAX first touches a device."""
    if device == "cuda":
        # Otherwise three quarters of the memory are taken at once, and the peak says nothing about the network.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax.config.update("jax_platforms", device)
    try:
        found = jax.devices()[0].platform
    except (RuntimeError, AssertionError):  # a JAX without that platform asserts, one without the device complains
        raise Unsupported("this JAX finds no device '%s'" % device)
    if (found == "cpu") != (device == "cpu"):
        raise Unsupported("this JAX already runs on '%s', received device '%s'" % (found, device))


def _translated(error):
    return OutOfMemory(str(error)) if "RESOURCE_EXHAUSTED" in str(error) else error


def _read_values(pairs, forms):
    """{name: a copy in the graph's order, no type narrower than float32}."""
    found = {}
    for name, value in pairs:
        array = np.asarray(widened(value))
        found[name] = np.array(from_form(array, forms[name]), order="C")
    return found


UNSUPPORTED = {}
