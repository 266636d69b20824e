"""How Keras trains on TensorFlow: its train function over a batch that stays on the device."""

import itertools

import keras
import numpy as np
import tensorflow as tf

from netdyno_worker.adapters.keras.network import ParameterValue
from netdyno_worker.adapters.tensorflow_2.pipeline import RecordPipeline
from netdyno_worker.contract import OutOfMemory, Unsupported

CHANNELS_LAST = True
TRACED = True
LABEL_TYPE = "int64"  # what the loss would convert to
DEVICES = {"cpu": "/device:CPU:0", "cuda": "/device:GPU:0"}


def versions():
    return {"tensorflow": tf.__version__}


def prepare(job):
    """Must come before TensorFlow first touches a device."""
    threading = tf.config.threading
    if threading.get_intra_op_parallelism_threads() != job.threads:
        threading.set_intra_op_parallelism_threads(job.threads)
        threading.set_inter_op_parallelism_threads(job.threads)
    devices = tf.config.list_physical_devices("GPU")
    if job.device == "cuda" and not devices:
        raise Unsupported("TensorFlow %s finds no CUDA device" % tf.__version__)
    if job.device == "cpu" and tf.config.get_visible_devices("GPU"):
        tf.config.set_visible_devices([], "GPU")
    for device in devices if job.device == "cuda" else ():
        # Otherwise all memory is taken at once, and the peak says nothing about the network.
        tf.config.experimental.set_memory_growth(device, True)
    tf.config.experimental.enable_tensor_float_32_execution(job.precision == "tf32")


class Engine(object):
    """Calls the functions that Keras compiled for the models."""

    def __init__(self, models, job):
        self._models = models
        self._device = job.device
        self._bound = None
        self._batches = ()
        self._losses = ()
        self._functions = {}
        _keep_reads_before_writes(models, job.precision == "float16")
        for model in models:
            model.make_train_function()

    def place(self, array, kind):
        return tf.constant(array)

    def bind(self, batches):
        """Later steps train on these."""
        self._batches = [x for x, _ in batches]
        self._bound = [(m.train_function, itertools.repeat((x,))) for m, (x, _) in zip(self._models, batches)]

    def step(self):
        try:
            self._losses = [train(data)["loss"] for train, data in self._bound]
        except tf.errors.ResourceExhaustedError as error:
            raise OutOfMemory(str(error))

    def wait(self):
        tf.test.experimental.sync_devices()

    def losses(self):
        return [float(loss) for loss in self._losses]

    def array(self, variable):
        return np.array(variable.numpy())

    def outputs(self, model, batch):
        trained = [tf.convert_to_tensor(v.value) for v in model.trainable_variables]
        found, _ = model.stateless_call(trained, _state(model), batch, training=True)
        return [tf.cast(value, keras.config.floatx()).numpy() for value in _listed(found)]

    def gradients(self, model, batch):
        """Compiled as training is: XLA's gradients are other code than those of single ops."""
        trained = [tf.convert_to_tensor(v.value) for v in model.trainable_variables]
        state = [tf.convert_to_tensor(v) for v in _state(model)]
        return [gradient.numpy() for gradient in self._traced(_gradient_of, model)(trained, state, batch[0])]

    def forward(self):
        for model, batch in zip(self._models, self._batches):
            self._traced(_forward, model)(batch)

    def backward(self):
        for model, batch in zip(self._models, self._batches):
            self._traced(_backward, model)(batch)

    def _traced(self, kind, model):
        """Traced when it is first called, compiled as training is."""
        key = kind, id(model)
        if key not in self._functions:
            self._functions[key] = tf.function(kind(model), jit_compile=bool(model.jit_compile))
        return self._functions[key]

    def peak_bytes(self):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"] if self._device == "cuda" else None

    def reserved_bytes(self):
        """TensorFlow does not report it."""

    def forget_peak(self):
        if self._device == "cuda":
            tf.config.experimental.reset_memory_stats("GPU:0")

    def pipeline(self, files, inputs, placed, bind):
        return RecordPipeline(files, inputs, DEVICES[self._device], bind)

    def settings(self):
        return {"threads": tf.config.threading.get_intra_op_parallelism_threads()}


def _keep_reads_before_writes(models, selecting):
    """Where a parameter is a value, its gradient may not depend on it, and only a control edge says that it is read
    before it is updated; likewise where an optimizer selects between old and new. TensorFlow 2.21's dependency
    optimizer drops that edge. Layers do not need it.
    """
    bare = selecting or any(isinstance(layer, ParameterValue) for model in models for layer in model.layers)
    tf.config.optimizer.set_experimental_options({"dependency_optimization": not bare})


def _forward(model):
    return lambda batch: model(batch, training=True)


def _backward(model):
    def compute(batch):
        with tf.GradientTape() as tape:
            loss = model(batch, training=True) * model.scale
        return tape.gradient(loss, [v.value for v in model.trainable_variables])

    return compute


def _gradient_of(model):
    def compute(trained, state, batch):
        with tf.GradientTape() as tape:
            tape.watch(trained)
            loss, _ = model.stateless_call(trained, state, batch, training=True)
            loss = loss * model.scale
        found = tape.gradient(loss, trained, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return [tf.convert_to_tensor(gradient) / model.scale for gradient in found]

    return compute


def _state(model):
    return [v.value for v in model.non_trainable_variables]


def _listed(found):
    return found if isinstance(found, (list, tuple)) else [found]
