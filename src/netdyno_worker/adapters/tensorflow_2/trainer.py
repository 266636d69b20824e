"""Trains a program with TensorFlow 2: every update of a step in one traced function, with fused training ops.

A step is one call of a concrete function, without the checks by which tf.function chooses among several traces.
"eager" is tf.function without XLA, TensorFlow's normal way to run a step; "compiled" is the same with XLA.
"""

import functools
import os
from collections import OrderedDict

import numpy as np
import tensorflow as tf

from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.tensorflow.translation import Ops, placed, rates_of, read_back
from netdyno_worker.adapters.tensorflow_2.ops import abilities
from netdyno_worker.adapters.tensorflow_2.optimizers import OPTIMIZERS, LossScale
from netdyno_worker.adapters.tensorflow_2.pipeline import RecordPipeline
from netdyno_worker.contract import OutOfMemory, Trainer, Unsupported
from netdyno_worker.program import layer_places

DEVICES = {"cpu": "/device:CPU:0", "cuda": "/device:GPU:0"}


def versions():
    found = {"tensorflow": tf.__version__, "numpy": np.__version__}
    built = tf.sysconfig.get_build_info()
    found.update((name, built[name + "_version"]) for name in ("cuda", "cudnn") if name + "_version" in built)
    return found


def build(job):
    _check_precision(job)
    _prepare_device(job)
    tf.config.threading.set_intra_op_parallelism_threads(job.threads)
    tf.config.threading.set_inter_op_parallelism_threads(job.threads)
    tf.config.experimental.enable_tensor_float_32_execution(job.precision == "tf32")
    tf.random.set_seed(job.seed)
    _keep_reads_before_writes(job.program)
    try:
        return FunctionTrainer(job)
    except tf.errors.ResourceExhaustedError as error:
        raise OutOfMemory(str(error))


class FunctionTrainer(Trainer):
    """Holds parameters and moments as variables; the batch is handed to the function as tensors on the device."""

    def __init__(self, job):
        self._job = job
        self._program = job.program
        self._kept_type = kept_type(job)
        self._ops = Ops(job.program, abilities(job))
        with tf.device(DEVICES[job.device]):
            self._parameters = OrderedDict((p.name, self._variable(p)) for p in job.program.parameters)
            self._optimizers = [self._optimizer(update) for update in job.program.updates]
            self._scales = [LossScale() if job.precision == "float16" else None for _ in job.program.updates]
        self._train = self._traced(self._step_graph)
        self._beside = {}
        self._batch = ()
        self._losses = ()

    def feed(self, batch):
        with tf.device(DEVICES[self._job.device]):
            self._batch = tuple(
                tf.identity(placed(batch[i.name], self._ops.forms.of[i.name], self._kept_type))
                for i in self._program.inputs
            )

    def step(self):
        try:
            self._losses = self._train(*self._batch)
        except tf.errors.ResourceExhaustedError as error:
            raise OutOfMemory(str(error))

    def wait(self):
        if self._job.device == "cuda":
            tf.test.experimental.sync_devices()

    def read(self, what):
        forms = self._ops.forms.of
        if what == "losses":
            return {u.name: float(loss) for u, loss in zip(self._program.updates, self._losses)}
        if what == "parameters":
            return {name: read_back(v.numpy(), forms[name]) for name, v in self._parameters.items()}
        found = self._run_traced(what)
        if what == "outputs":
            return {name: read_back(v.numpy(), forms[name]) for name, v in zip(self._program.outputs, found)}
        names = [(update.name, name) for update in self._program.updates for name in update.parameters]
        return {u + "/" + name: read_back(v.numpy(), forms[name]) for (u, name), v in zip(names, found)}

    def peak_bytes(self):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"] if self._job.device == "cuda" else None

    def forget_peak(self):
        if self._job.device == "cuda":
            tf.config.experimental.reset_memory_stats("GPU:0")

    def stages(self):
        return [
            ("forward", functools.partial(self._run_traced, "forward")),
            ("backward", functools.partial(self._run_traced, "backward")),
            ("update", self.step),
        ]

    def pipeline(self, files):
        inputs = filled_inputs(self._program, files)
        return RecordPipeline(files, inputs, DEVICES[self._job.device], self._place)

    def _place(self, tensors):
        self._batch = tuple(tensors[i.name] for i in self._program.inputs)

    def settings(self):
        return {
            "layout": "nhwc" if self._job.device == "cpu" else "nhwc, left to TensorFlow's layout optimizer",
            "mode": "tf.function with XLA" if self._job.execution == "compiled" else "tf.function without XLA",
            "optimizer": ", ".join(type(o).__name__ + " (fused op)" for o in self._optimizers),
            "products": self._job.precision,
            "loss_scale": "dynamic" if self._job.precision == "float16" else "none",
            "intra_op_threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "inter_op_threads": tf.config.threading.get_inter_op_parallelism_threads(),
            "onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
        }

    def _run_traced(self, what):
        """The results of a graph other than the step, which is traced when first needed."""
        if what not in self._beside:
            graphs = {"outputs": self._output_graph, "gradients": self._gradient_graph}
            graphs.update(forward=self._forward_graph, backward=self._backward_graph)
            self._beside[what] = self._traced(graphs[what])
        return self._beside[what](*self._batch)

    def _variable(self, parameter):
        value = placed(self._job.initial(parameter.name), self._ops.forms.of[parameter.name], self._kept_type)
        return tf.Variable(value, trainable=parameter.trainable)

    def _optimizer(self, update):
        rule = rates_of(update.optimizer, self._kept_type)
        return OPTIMIZERS[rule["kind"]](rule, [self._parameters[name] for name in update.parameters])

    def _traced(self, body):
        """The function as called with tensors, without the checks that choose among several traces."""
        specs = [
            tf.TensorSpec(self._ops.forms.of[i.name].lies, tf.int64 if i.dtype == "integer" else self._kept_type)
            for i in self._program.inputs
        ]
        compiled = True if self._job.execution == "compiled" else None
        with tf.device(DEVICES[self._job.device]):
            return tf.function(body, autograph=False, jit_compile=compiled).get_concrete_function(*specs)

    def _step_graph(self, *batch):
        losses = []
        for descent, optimizer, scale in self._descents(batch):
            gradients, finite = (descent.gradients, None) if scale is None else scale.undone(descent.gradients)
            optimizer.apply(gradients, finite)
            if scale is not None:
                scale.move(finite)
            losses.append(descent.loss)
        return losses

    def _forward_graph(self, *batch):
        """TensorFlow prunes what no result and no variable needs: here the backward pass."""
        return [descent.loss for descent, _, _ in self._descents(batch)]

    def _backward_graph(self, *batch):
        return [(descent.loss, descent.gradients) for descent, _, _ in self._descents(batch)]

    def _descents(self, batch):
        """Each update's (Descent, optimizer, loss scale or None), after its running statistics have moved."""
        draws = self._ops.draws([update.loss for update in self._program.updates])
        for update, optimizer, scale in zip(self._program.updates, self._optimizers, self._scales):
            descent = self._ops.descend(update, self._values(batch), draws, scale and scale.factor)
            for name, (value, share) in descent.latest.items():
                variable = self._parameters[name]
                variable.assign_sub((variable - value) * share)
            yield descent, optimizer, scale

    def _gradient_graph(self, *batch):
        draws = self._ops.draws([update.loss for update in self._program.updates])
        found = []
        for update, scale in zip(self._program.updates, self._scales):
            descent = self._ops.descend(update, self._values(batch), draws, scale and scale.factor)
            found += descent.gradients if scale is None else [g / scale.factor for g in descent.gradients]
        return found

    def _output_graph(self, *batch):
        return self._ops.outputs(self._values(batch), self._ops.draws(self._program.outputs))

    def _values(self, batch):
        """Parameters as they are at this point of the function, and the batch."""
        values = {name: tf.convert_to_tensor(variable) for name, variable in self._parameters.items()}
        values.update((i.name, tensor) for i, tensor in zip(self._program.inputs, batch))
        return values


def _keep_reads_before_writes(program):
    """Where a parameter is a plain value, its gradient may not depend on it, and only a control edge says that it is
    read before it is updated. TensorFlow 2.21's dependency optimizer drops that edge; layers do not need it.
    """
    names = {parameter.name for parameter in program.parameters}
    bare = any(
        name in names and place not in layer_places(program, node)
        for node in program.nodes
        for place, name in enumerate(node.inputs)
    )
    tf.config.optimizer.set_experimental_options({"dependency_optimization": not bare})


def _check_precision(job):
    if job.precision == "tf32" and job.device != "cuda":
        raise Unsupported("tf32 is arithmetic of NVIDIA GPUs, received device '%s'" % job.device)


def _prepare_device(job):
    """Must come before TensorFlow first touches a device."""
    if job.device == "cpu":
        tf.config.set_visible_devices([], "GPU")
        return
    found = tf.config.list_physical_devices("GPU")
    if not found:
        raise Unsupported("tensorflow %s finds no CUDA device" % tf.__version__)
    tf.config.set_visible_devices(found[:1], "GPU")
    # Otherwise nearly all memory is taken at once from whatever else runs there.
    tf.config.experimental.set_memory_growth(found[0], True)


UNSUPPORTED = {}
