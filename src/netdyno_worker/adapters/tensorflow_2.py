"""How TensorFlow 2 trains a program: every update of a step in one traced function, with its own training ops.

"eager" is tf.function without XLA, TensorFlow's normal way to run a step; "compiled" is the same with XLA.
"""

import os
from collections import OrderedDict

import numpy as np
import tensorflow as tf

from netdyno_worker.adapters._tensorflow_ops import Abilities, Ops, placed, read_back
from netdyno_worker.contract import OutOfMemory, Trainer, Unsupported

WEIGHT_PLACES = {"convolution": (1, 2), "linear": (1, 2), "batch_norm": (1, 2, 3, 4)}  # of a node's inputs
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
        self._ops = Ops(job.program, _abilities(job))
        with tf.device(DEVICES[job.device]):
            self._parameters = OrderedDict((p.name, self._variable(p)) for p in job.program.parameters)
            self._optimizers = [self._optimizer(update) for update in job.program.updates]
        self._train = self._traced(self._step_graph)
        self._reading = {}
        self._batch = ()
        self._losses = ()

    def feed(self, batch):
        with tf.device(DEVICES[self._job.device]):
            self._batch = tuple(
                tf.identity(placed(batch[i.name], self._ops.forms.of[i.name])) for i in self._program.inputs
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
        if what not in self._reading:
            self._reading[what] = self._traced(
                {"outputs": self._output_graph, "gradients": self._gradient_graph}[what]
            )
        found = self._reading[what](*self._batch)
        if what == "outputs":
            return {name: read_back(v.numpy(), forms[name]) for name, v in zip(self._program.outputs, found)}
        names = [(update.name, name) for update in self._program.updates for name in update.parameters]
        return {u + "/" + name: read_back(v.numpy(), forms[name]) for (u, name), v in zip(names, found)}

    def peak_bytes(self):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"] if self._job.device == "cuda" else None

    def settings(self):
        return {
            "layout": "nhwc" if self._job.device == "cpu" else "nhwc, left to TensorFlow's layout optimizer",
            "mode": "tf.function with XLA" if self._job.execution == "compiled" else "tf.function without XLA",
            "optimizer": ", ".join(type(o).__name__.strip("_") + " (fused op)" for o in self._optimizers),
            "products": self._job.precision,
            "intra_op_threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "inter_op_threads": tf.config.threading.get_inter_op_parallelism_threads(),
            "onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
        }

    def _variable(self, parameter):
        value = placed(self._job.initial(parameter.name), self._ops.forms.of[parameter.name])
        return tf.Variable(value, trainable=parameter.trainable)

    def _optimizer(self, update):
        return OPTIMIZERS[update.optimizer["kind"]](
            update.optimizer, [self._parameters[name] for name in update.parameters]
        )

    def _traced(self, body):
        """The function as called with tensors, without the checks that choose among several traces."""
        specs = [
            tf.TensorSpec(self._ops.forms.of[i.name].lies, tf.int64 if i.draw["kind"] == "integers" else tf.float32)
            for i in self._program.inputs
        ]
        compiled = True if self._job.execution == "compiled" else None
        with tf.device(DEVICES[self._job.device]):
            return tf.function(body, autograph=False, jit_compile=compiled).get_concrete_function(*specs)

    def _step_graph(self, *batch):
        losses = []
        draws = self._ops.draws([update.loss for update in self._program.updates])
        for update, optimizer in zip(self._program.updates, self._optimizers):
            descent = self._ops.descend(update, self._values(batch), draws)
            for name, (value, share) in descent.latest.items():
                variable = self._parameters[name]
                variable.assign_sub((variable - value) * share)
            optimizer.apply(descent.gradients)
            losses.append(descent.loss)
        return losses

    def _gradient_graph(self, *batch):
        draws = self._ops.draws([update.loss for update in self._program.updates])
        descents = [self._ops.descend(update, self._values(batch), draws) for update in self._program.updates]
        return [gradient for descent in descents for gradient in descent.gradients]

    def _output_graph(self, *batch):
        return self._ops.outputs(self._values(batch), self._ops.draws(self._program.outputs))

    def _values(self, batch):
        """Parameters as they are at this point of the function, and the batch."""
        values = {name: tf.convert_to_tensor(variable) for name, variable in self._parameters.items()}
        values.update((i.name, tensor) for i, tensor in zip(self._program.inputs, batch))
        return values


class _Sgd(object):
    """Each optimizer has `apply`, which puts the ops that change its variables into the current graph."""

    def __init__(self, rule, variables):
        self._rate = rule["learning_rate"]
        self._variables = variables

    def apply(self, gradients):
        for variable, gradient in zip(self._variables, gradients):
            tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=self._rate, delta=gradient)


class _Momentum(object):
    def __init__(self, rule, variables):
        self._rate, self._momentum = rule["learning_rate"], rule["momentum"]
        self._pairs = [(variable, _zeros_like(variable)) for variable in variables]

    def apply(self, gradients):
        for (variable, velocity), gradient in zip(self._pairs, gradients):
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle, accum=velocity.handle, lr=self._rate, grad=gradient, momentum=self._momentum
            )


class _Adam(object):
    """The op adds epsilon to a root that is not yet corrected; an epsilon scaled alike makes it ours."""

    def __init__(self, rule, variables):
        self._rule = rule
        self._count = tf.Variable(0.0)
        self._triples = [(variable, _zeros_like(variable), _zeros_like(variable)) for variable in variables]

    def apply(self, gradients):
        rule = self._rule
        count = self._count.assign_add(1.0)
        powers = [tf.pow(rule[name], count) for name in ("beta1", "beta2")]
        epsilon = rule["epsilon"] * tf.sqrt(1.0 - powers[1])
        for (variable, first, second), gradient in zip(self._triples, gradients):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=first.handle,
                v=second.handle,
                beta1_power=powers[0],
                beta2_power=powers[1],
                lr=rule["learning_rate"],
                beta1=rule["beta1"],
                beta2=rule["beta2"],
                epsilon=epsilon,
                grad=gradient,
            )


OPTIMIZERS = {"sgd": _Sgd, "momentum": _Momentum, "adam": _Adam}


def _zeros_like(variable):
    return tf.Variable(tf.zeros(variable.shape), trainable=False)


def _abilities(job):
    """On a CPU an image is padded and groups are split beforehand: oneDNN, many times faster, takes neither."""
    whole = job.execution == "compiled" or job.device == "cuda"
    return Abilities(
        pads_convolutions=whole,
        pads_pools=job.execution != "compiled" and job.device == "cuda",
        groups=whole,
        batch_norm=_batch_norm,
        product_type=tf.bfloat16 if job.precision == "bfloat16" else tf.float32,
    )


def _batch_norm(x, scale, shift, epsilon):
    """The op itself, because its wrapper raises an epsilon of 1e-5 a little."""
    none = tf.constant([], tf.float32)
    found = tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=shift, mean=none, variance=none, epsilon=epsilon, is_training=True
    )
    return found.y, found.batch_mean, found.batch_variance


def _keep_reads_before_writes(program):
    """Where a parameter is a plain value, its gradient may not depend on it, and only a control edge says that it is
    read before it is updated. TensorFlow 2.21's dependency optimizer drops that edge; layers do not need it.
    """
    names = {parameter.name for parameter in program.parameters}
    bare = any(
        name in names and place not in WEIGHT_PLACES.get(node.op, ())
        for node in program.nodes
        for place, name in enumerate(node.inputs)
    )
    tf.config.optimizer.set_experimental_options({"dependency_optimization": not bare})


def _check_precision(job):
    if job.precision == "float16":
        raise Unsupported("float16 needs loss scaling, which this adapter does not do; bfloat16 does not need it")
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
