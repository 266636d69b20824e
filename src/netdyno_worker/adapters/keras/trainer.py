"""Trains a program with Keras 3: a functional model per update, on the backend that Keras is started with.

A step calls the model's own train function, as fit does for each batch, over a batch that stays on the device.
"""

import importlib

import keras
import numpy as np

from netdyno_worker.adapters.keras.network import ANCHOR, Network
from netdyno_worker.adapters.keras.optimizers import make_optimizer
from netdyno_worker.adapters.keras.site import Layout
from netdyno_worker.adapters.keras.training import LossModel, Seen, TargetModel
from netdyno_worker.adapters.kit.loss_scale import FIRST_SCALE
from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.program import kinds

BACKEND = keras.config.backend()
# The part that differs by backend: where values live, how a step is called, how a gradient is taken.
engine = importlib.import_module("netdyno_worker.adapters.keras.on_" + BACKEND)


def versions():
    return dict(engine.versions(), keras=keras.__version__, numpy=np.__version__)


def build(job):
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is arithmetic of NVIDIA GPUs, received device '%s'" % job.device)
    engine.prepare(job)
    keras.utils.set_random_seed(job.seed)
    if job.precision == "float64":
        _keep_float64()
    kept = kept_type(job).name
    keras.config.set_floatx(kept)
    narrow = job.precision in ("bfloat16", "float16")
    keras.config.set_dtype_policy("mixed_" + job.precision if narrow else kept)
    return KerasTrainer(job)


def _keep_float64():
    """By a private table, since no setting does it: except on TensorFlow, Keras promotes float64 and float32 to
    float32 whatever floatx is, and so computes means, losses and batch norms."""
    from keras.src.backend.common import dtypes

    dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"


class KerasTrainer(Trainer):
    """Models share layers where updates share parameters; each has the optimizer of its update."""

    def __init__(self, job):
        self._program = job.program
        self._kinds = kinds(job.program)
        self._layout = Layout(engine.CHANNELS_LAST)
        network = Network(job, self._layout, engine.LABEL_TYPE)
        network.store_initial()
        self._slots = network.slots
        models = [self._trained(network, job, update) for update in job.program.updates]
        self._outputs, self._output_inputs = network.model(keras.Model, job.program.outputs)
        self._models = [model for model, _, _ in models]
        self._fed = [(names, target) for _, names, target in models]
        self._engine = engine.Engine(self._models, job)
        self._batches = None
        self._placed = {}

    def feed(self, batch):
        placed = {name: self._place(array, self._kinds[name]) for name, array in batch.items()}
        placed.setdefault(ANCHOR, self._place(np.zeros((1, 1), np.float32), "plain"))
        self._bind(placed)

    def _bind(self, placed):
        """Train on these from now on; inputs that are not among them stay as they were."""
        placed = dict(self._placed, **placed)
        self._placed = placed
        self._batches = [(_chosen(placed, names), placed.get(target)) for names, target in self._fed]
        self._engine.bind(self._batches)

    def step(self):
        self._engine.step()

    def wait(self):
        self._engine.wait()

    def peak_bytes(self):
        return self._engine.peak_bytes()

    def reserved_bytes(self):
        return self._engine.reserved_bytes()

    def forget_peak(self):
        self._engine.forget_peak()

    def stages(self):
        return [("forward", self._engine.forward), ("backward", self._engine.backward), ("update", self.step)]

    def pipeline(self, files):
        inputs = filled_inputs(self._program, files)
        if not self._placed:
            self.feed(synthetic_batch(self._program, files.seed))
        return self._engine.pipeline(files, inputs, self._placed, self._bind)

    def settings(self):
        chosen = {
            "backend": BACKEND,
            "layout": "nhwc" if self._layout.channels_last else "nchw",
            "loop": "train_function",
            "jit_compile": self._models[0].jit_compile,
            "optimizer": ", ".join(type(model.optimizer).__name__ for model in self._models),
            "policy": keras.config.dtype_policy().name,
            "loss_scale": "dynamic" if self._models[0].scale > 1 else "none",
        }
        chosen.update(self._engine.settings())
        return chosen

    def _trained(self, network, job, update):
        """The compiled model of an update, the names of its inputs, and of its target if that is no input."""
        split = None if engine.TRACED else network.split_loss(update.loss)
        if split is None:
            (model, names), target = network.model(LossModel, [update.loss]), None
        else:
            value, target, compare = split
            model, names = network.model(TargetModel, [value])
            model.compare, model.seen = compare, Seen()
        variables = [self._slots[name].variable for name in update.parameters]
        model.chosen = lambda: variables
        scaled = job.precision == "float16"
        model.scale = FIRST_SCALE if scaled else 1.0
        rule = make_optimizer(update.optimizer, scaled)
        model.compile(optimizer=rule, jit_compile=job.execution == "compiled", auto_scale_loss=False)
        model.optimizer.build(variables)
        return model, names, target

    def _place(self, array, kind):
        """A copy on the device, in its layout."""
        if self._layout.reorders(kind):
            array = array.transpose(0, 2, 3, 1)
        dtype = engine.LABEL_TYPE if array.dtype.kind == "i" else keras.config.floatx()
        return self._engine.place(np.array(array, dtype=dtype, order="C"), kind)

    def _read_outputs(self):
        batch = _chosen(self._placed, self._output_inputs)
        found = self._engine.outputs(self._outputs, batch)
        return {name: self._in_graph_order(name, array) for name, array in zip(self._program.outputs, found)}

    def _read_gradients(self):
        found = {}
        for update, model, batch in zip(self._program.updates, self._models, self._batches):
            for name, array in zip(update.parameters, self._engine.gradients(model, batch)):
                found[update.name + "/" + name] = _copied(self._slots[name].load(array))
        return found

    def _read_parameters(self):
        held = {name: self._engine.array(slot.variable) for name, slot in self._slots.items()}
        return {name: _copied(self._slots[name].load(array)) for name, array in held.items()}

    def _read_losses(self):
        return {update.name: loss for update, loss in zip(self._program.updates, self._engine.losses())}

    def _in_graph_order(self, name, array):
        return _copied(array.transpose(0, 3, 1, 2) if self._layout.reorders(self._kinds[name]) else array)


def _chosen(placed, names):
    return placed[names[0]] if len(names) == 1 else [placed[name] for name in names]


def _copied(array):
    return np.array(array, dtype=keras.config.floatx(), order="C")


UNSUPPORTED = {}
