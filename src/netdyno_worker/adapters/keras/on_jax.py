"""How Keras trains on JAX: its train function with the state handed from step to step, as fit does."""

import itertools
import os

import jax
import jax.numpy as jnp
import jaxlib
import keras
import numpy as np

from netdyno_worker.contract import OutOfMemory, Unsupported

CHANNELS_LAST = True
TRACED = True
LABEL_TYPE = "int32"


def versions():
    return {"jax": jax.__version__, "jaxlib": jaxlib.__version__}


def prepare(job):
    """Must come before JAX first touches a device."""
    if job.execution != "compiled":
        raise Unsupported("on JAX, Keras trains through jit; run op by op it is not what its users run")
    if job.device == "cuda":
        # Otherwise three quarters of the memory are taken at once, and the peak says nothing about the network.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if job.precision == "float64":
        jax.config.update("jax_enable_x64", True)  # otherwise JAX narrows every array
    jax.config.update("jax_platforms", job.device)
    jax.config.update("jax_default_matmul_precision", "default" if job.precision == "tf32" else "highest")
    try:
        found = jax.devices()[0].platform
    except (RuntimeError, AssertionError):  # a JAX without that platform asserts, one without the device complains
        raise Unsupported("this JAX finds no device '%s'" % job.device)
    if (found == "cpu") != (job.device == "cpu"):
        raise Unsupported("this JAX already runs on '%s', received device '%s'" % (found, job.device))


class Engine(object):
    """Holds the value of every variable: a train function donates its state and returns the next."""

    def __init__(self, models, job):
        self._models = models
        self._device = jax.devices()[0]
        self._values = {}
        self._states = [[self._adopted(part) for part in _parts(model)] for model in models]
        self._bound = None
        self._batches = ()
        self._losses = ()
        self._partial = ()
        self._functions = {}
        for model in models:
            model.make_train_function()

    def place(self, array, kind):
        return jax.device_put(array, self._device)

    def bind(self, batches):
        """Later steps train on these."""
        self._batches = [x for x, _ in batches]
        self._bound = [
            (model.train_function, keys, itertools.repeat((x,)))
            for model, keys, (x, _) in zip(self._models, self._states, batches)
        ]

    def step(self):
        values, losses = self._values, []
        try:
            for train, keys, data in self._bound:
                state = tuple([[values[key] for key in part] for part in keys])
                logs, state = train(state, data)
                for part, news in zip(keys, state):
                    values.update(zip(part, news))
                losses.append(logs["loss"])
        except jax.errors.JaxRuntimeError as error:
            raise OutOfMemory(str(error)) if "RESOURCE_EXHAUSTED" in str(error) else error
        self._losses = losses

    def wait(self):
        jax.block_until_ready((self._losses, list(self._values.values()), self._partial))

    def losses(self):
        return [float(loss) for loss in self._losses]

    def array(self, variable):
        return np.array(self._current([variable])[0])

    def outputs(self, model, batch):
        found, _ = self._compiled(_forward, model)(*self._arguments(model, batch))
        return [np.array(value.astype(keras.config.floatx())) for value in _listed(found)]

    def gradients(self, model, batch):
        found, _ = self._compiled(_backward, model)(*self._arguments(model, batch[0]))
        return [np.array(value) for value in found]

    def forward(self):
        self._part(_forward)

    def backward(self):
        self._part(_backward)

    def _part(self, kind):
        """Run that part of a step for every model, and keep the results so that wait() can wait for them."""
        self._partial = [
            self._compiled(kind, model)(*self._arguments(model, batch))
            for model, batch in zip(self._models, self._batches)
        ]

    def _compiled(self, kind, model):
        """Compiled when it is first called."""
        key = kind, id(model)
        if key not in self._functions:
            self._functions[key] = jax.jit(kind(model))
        return self._functions[key]

    def peak_bytes(self):
        return self._memory("peak_bytes_in_use")

    def reserved_bytes(self):
        return self._memory("peak_pool_bytes")

    def forget_peak(self):
        """JAX cannot."""

    def _memory(self, name):
        """None on a CPU, which keeps no statistics."""
        return (self._device.memory_stats() or {}).get(name)

    def pipeline(self, files, inputs, placed, bind):
        raise Unsupported("Keras on JAX reads images by another framework's pipeline or by Grain; use packed data")

    def settings(self):
        return {"state": "donated", "matmul_precision": jax.config.jax_default_matmul_precision}

    def _adopted(self, variables):
        """Their keys, after copying their values: a donated buffer must not be numpy's or referenced elsewhere."""
        for variable in variables:
            if id(variable) not in self._values:
                first = variable.value
                self._values[id(variable)] = jnp.array(first, copy=True)
                first.delete()
        return [id(variable) for variable in variables]

    def _arguments(self, model, batch):
        return self._current(model.trainable_variables), self._current(model.non_trainable_variables), batch

    def _current(self, variables):
        """Their current values; variables of no trained model are unchanged."""
        return [self._values.get(id(v), v.value) for v in variables]


def _forward(model):
    """function(trained, state, batch) -> (the model's value, the next state)."""

    def compute(trained, state, batch):
        return model.stateless_call(trained, state, batch, training=True)

    return compute


def _backward(model):
    """function(trained, state, batch) -> (gradients of the loss, the next state)."""

    def scaled_loss(trained, state, batch):
        loss, state = model.stateless_call(trained, state, batch, training=True)
        return loss * model.scale, state

    def compute(trained, state, batch):
        gradients, state = jax.grad(scaled_loss, has_aux=True)(trained, state, batch)
        return [gradient / model.scale for gradient in gradients], state

    return compute


def _listed(found):
    return found if isinstance(found, (list, tuple)) else [found]


def _parts(model):
    """The four lists of variables that make a train function's state."""
    return (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
