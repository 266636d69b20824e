"""How JAX trains a program: every update of a step in one function that XLA compiles, with donated state."""

import os

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

from netdyno_worker.adapters._jax_ops import Ops, from_form, parameter_forms, to_form
from netdyno_worker.contract import OutOfMemory, Trainer, Unsupported
from netdyno_worker.program import nodes_for


def versions():
    return {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": np.__version__}


def build(job):
    if job.execution != "compiled":
        raise Unsupported("JAX trains through jit; run op by op it is not what its users run")
    _check_precision(job)
    _choose_platform(job.device)
    return JaxTrainer(job)


class JaxTrainer(Trainer):
    """Holds the state on the device: parameters, then optimizer moments, then the step count."""

    def __init__(self, job):
        self._plan = Plan(job)
        self._step = jax.jit(self._plan.step, donate_argnums=(0, 1, 2))
        self._gradients = jax.jit(self._plan.gradients)
        self._outputs = jax.jit(self._plan.outputs)
        self._device = jax.devices()[0]
        self._precision = job.precision
        self._parameters = [self._place(to_form(job.initial(n), f)) for n, f in self._plan.forms.items()]
        self._moments = self._plan.first_moments()
        self._count = jnp.zeros((), jnp.int32)
        self._batch = None
        self._losses = ()

    def feed(self, batch):
        placed = []
        for source in self._plan.program.inputs:
            array = np.asarray(batch[source.name])
            placed.append(self._place(to_form(array, "image") if array.ndim == 4 else array))
        self._batch = placed

    def step(self):
        try:
            self._parameters, self._moments, self._count, self._losses = self._step(
                self._parameters, self._moments, self._count, self._batch
            )
        except jax.errors.JaxRuntimeError as error:
            raise _translated(error)

    def wait(self):
        try:
            jax.block_until_ready((self._losses, self._parameters, self._moments, self._batch))
        except jax.errors.JaxRuntimeError as error:
            raise _translated(error)

    def read(self, what):
        plan = self._plan
        if what == "losses":
            return {u.name: float(loss) for u, loss in zip(plan.program.updates, self._losses)}
        if what == "parameters":
            return _read_values(zip(plan.forms, self._parameters), plan.forms)
        if what == "outputs":
            values = self._outputs(self._parameters, self._count, self._batch)
            return _read_values(zip(plan.program.outputs, values), plan.forms)
        found = {}
        for update, gradients in zip(
            plan.program.updates, self._gradients(self._parameters, self._count, self._batch)
        ):
            arrays = _read_values(gradients.items(), plan.forms)
            found.update({update.name + "/" + name: array for name, array in arrays.items()})
        return found

    def peak_bytes(self):
        statistics = self._device.memory_stats()
        return statistics["peak_bytes_in_use"] if statistics else None

    def settings(self):
        own = self._device.platform != "cpu"
        return {
            "layout": "nhwc",
            "state": "donated",
            "windows": "xla" if own else "rewritten for XLA on the cpu",
            "matmul_precision": "default" if self._precision == "tf32" else "highest",
        }

    def _place(self, array):
        """A copy of its own: a donated buffer must not be numpy's."""
        return jax.device_put(np.array(array, order="C"), self._device, may_alias=False)


class Plan(object):
    """The functions to compile; they walk the nodes while they are traced, and never again."""

    def __init__(self, job):
        self.program = job.program
        self.forms = {p.name: parameter_forms(job.program)[p.name] for p in job.program.parameters}
        self._ops = Ops(job.device, job.precision, job.seed)
        self._nodes = [nodes_for(job.program, [update.loss]) for update in job.program.updates]

    def first_moments(self):
        """For each update, for each of its parameters, the zeros its optimizer starts from."""
        shapes = {
            p.name: to_form(np.empty(p.shape, np.int8), self.forms[p.name]).shape for p in self.program.parameters
        }
        return [
            [
                [jnp.zeros(shapes[name], jnp.float32) for _ in range(MOMENTS[update.optimizer["kind"]])]
                for name in update.parameters
            ]
            for update in self.program.updates
        ]

    def step(self, parameters, moments, count, batch):
        """The next parameters, moments and count, and each update's loss."""
        state = dict(zip(self.forms, parameters))
        losses, next_moments = [], []
        for update, nodes, old in zip(self.program.updates, self._nodes, moments):
            loss, moved, gradients = self._loss_and_gradients(update, nodes, (state, count, batch))
            state.update(moved)
            losses.append(loss)
            next_moments.append([])
            for name, slots in zip(update.parameters, old):
                change, slots = RULES[update.optimizer["kind"]](gradients[name], slots, count, update.optimizer)
                state[name] = state[name] - change
                next_moments[-1].append(slots)
        return [state[name] for name in self.forms], next_moments, count + 1, losses

    def gradients(self, parameters, count, batch):
        """For each update, {parameter name: gradient} at the same parameters."""
        state = dict(zip(self.forms, parameters))
        return [
            self._loss_and_gradients(update, nodes, (state, count, batch))[2]
            for update, nodes in zip(self.program.updates, self._nodes)
        ]

    def outputs(self, parameters, count, batch):
        values = self._values(dict(zip(self.forms, parameters)), batch)
        self._ops.evaluate(nodes_for(self.program, self.program.outputs), values, self.forms, count)
        return [values[name] for name in self.program.outputs]

    def _loss_and_gradients(self, update, nodes, at):
        """(loss, {running statistic: next value}, {parameter: gradient}) at (state, count, batch)."""
        state, count, batch = at

        def loss(trained):
            values = self._values(dict(state, **trained), batch)
            moved = self._ops.evaluate(nodes, values, self.forms, count)
            return values[update.loss], moved

        trained = {name: state[name] for name in update.parameters}
        (value, moved), gradients = jax.value_and_grad(loss, has_aux=True)(trained)
        return value, moved, gradients

    def _values(self, state, batch):
        values = {source.name: array for source, array in zip(self.program.inputs, batch)}
        values.update(state)
        return values


def _check_precision(job):
    if job.precision == "float16":
        raise Unsupported("float16 needs loss scaling, which JAX leaves to other libraries; use bfloat16")
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is arithmetic of NVIDIA GPUs, received device '%s'" % job.device)


def _choose_platform(device):
    """Must come before JAX first touches a device."""
    if device == "cuda":
        # Otherwise three quarters of the memory are taken at once, and the peak says nothing of the network.
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
    """{name: a float32 copy in the graph's order}; what has no form of its own is an image or plain."""
    found = {}
    for name, value in pairs:
        form = forms.get(name, "image" if value.ndim == 4 else "plain")
        array = np.asarray(value.astype(jnp.float32))
        found[name] = np.array(from_form(array, form), order="C")
    return found


def _sgd(gradient, moments, count, optimizer):
    return optimizer["learning_rate"] * gradient, moments


def _momentum(gradient, moments, count, optimizer):
    velocity = optimizer["momentum"] * moments[0] + gradient
    return optimizer["learning_rate"] * velocity, [velocity]


def _adam(gradient, moments, count, optimizer):
    beta1, beta2 = optimizer["beta1"], optimizer["beta2"]
    done = (count + 1).astype(jnp.float32)
    first = beta1 * moments[0] + (1 - beta1) * gradient
    second = beta2 * moments[1] + (1 - beta2) * jnp.square(gradient)
    root = jnp.sqrt(second / (1 - beta2**done))
    change = optimizer["learning_rate"] * (first / (1 - beta1**done)) / (root + optimizer["epsilon"])
    return change, [first, second]


MOMENTS = {"sgd": 0, "momentum": 1, "adam": 2}
# Each gives what is subtracted from a parameter, and the next moments; `count` is of the steps made before.
RULES = {"sgd": _sgd, "momentum": _momentum, "adam": _adam}

UNSUPPORTED = {}
