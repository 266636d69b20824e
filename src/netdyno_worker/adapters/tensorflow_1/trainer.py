"""Trains a program with TensorFlow 1: one static graph with all updates, run by a Session once a step.

Parameters and the batch are variables, so that a step feeds and fetches nothing but the losses.
"""

from collections import OrderedDict

import numpy as np
import tensorflow as tf

from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.adapters.tensorflow.translation import Ops, placed, rates_of, read_back
from netdyno_worker.adapters.tensorflow_1.ops import abilities
from netdyno_worker.adapters.tensorflow_1.optimizers import OPTIMIZERS
from netdyno_worker.adapters.tensorflow_1.pipeline import GraphPipeline
from netdyno_worker.contract import OutOfMemory, Trainer, Unsupported


def versions():
    return {"tensorflow": tf.__version__, "numpy": np.__version__}


def build(job):
    if job.device != "cpu":
        raise Unsupported("TensorFlow 1.9 is driven on the cpu here: its CUDA 9 knows no GPU of today")
    if job.precision not in ("float32", "float64"):
        raise Unsupported(
            "TensorFlow 1.9 computes in float32 or float64 on a cpu, received precision '%s'" % job.precision
        )
    if job.execution != "compiled":
        raise Unsupported("TensorFlow 1.9 trains a whole graph at a time, received execution '%s'" % job.execution)
    return SessionTrainer(job)


class SessionTrainer(Trainer):
    """Parameters, moments and the batch are variables of one graph, so a step neither feeds nor copies anything."""

    def __init__(self, job):
        self._program = job.program
        self._kept_type = kept_type(job)
        self._ops = Ops(job.program, abilities(self._kept_type))
        self._graph = tf.Graph()
        self._reading = {}
        self._losses = ()
        with self._graph.as_default():
            tf.set_random_seed(job.seed)
            self._batch = OrderedDict((i.name, self._batch_variable(i)) for i in job.program.inputs)
            self._parameters = OrderedDict(
                (p.name, self._zeros(p.name, self._kept_type)) for p in job.program.parameters
            )
            losses, train = self._training()
            self._session = tf.Session(config=_config(job.threads))
            self._session.run(tf.global_variables_initializer())
        for name, variable in self._parameters.items():
            self._load(variable, job.initial(name), name)
        self._train = self._session.make_callable(losses + [train])

    def feed(self, batch):
        for name, variable in self._batch.items():
            self._load(variable, batch[name], name)

    def step(self):
        try:
            self._losses = self._train()
        except tf.errors.ResourceExhaustedError as error:
            raise OutOfMemory(str(error))

    def wait(self):
        """A Session returns when everything is computed."""

    def read(self, what):
        if what == "losses":
            return {u.name: float(loss) for u, loss in zip(self._program.updates, self._losses)}
        if what not in self._reading:
            parts = {"outputs": self._outputs, "gradients": self._gradients, "parameters": self._parameters_now}
            with self._graph.as_default():
                self._reading[what] = parts[what]()
        keys, names, tensors = zip(*self._reading[what])
        arrays = self._session.run(list(tensors))
        forms = self._ops.forms.of
        return {key: read_back(array, forms[name]) for key, name, array in zip(keys, names, arrays)}

    def pipeline(self, files):
        inputs = filled_inputs(self._program, files)
        return GraphPipeline(files, inputs, self._session, [self._batch[inputs.images], self._batch[inputs.labels]])

    def settings(self):
        return {
            "layout": "nhwc",
            "mode": "static graph, Session.make_callable",
            "optimizer": ", ".join(OPTIMIZERS[u.optimizer["kind"]].__name__ for u in self._program.updates),
        }

    def _training(self):
        """([loss of each update], an op that makes all updates in order)."""
        draws = self._ops.draws([update.loss for update in self._program.updates])
        losses, done = [], []
        for update in self._program.updates:
            with tf.control_dependencies(done):
                descent = self._ops.descend(update, self._values(), draws)
                done = [self._update(update, descent)]
            losses.append(descent.loss)
        return losses, done[0]

    def _update(self, update, descent):
        """Changes variables in place, so whatever reads them, the loss and every gradient, has to come first."""
        moved = []
        for name, (value, share) in descent.latest.items():
            variable = self._parameters[name]
            moved.append(variable.assign_sub((variable.read_value() - value) * share).op)
        variables = [self._parameters[name] for name in update.parameters]
        with tf.control_dependencies([descent.loss] + descent.gradients):
            rule = rates_of(update.optimizer, self._kept_type)
            optimizer = OPTIMIZERS[rule["kind"]](rule)
            moved.append(optimizer.apply_gradients(list(zip(descent.gradients, variables))))
        return tf.group(*moved)

    def _outputs(self):
        """(key, name, tensor) of each, as the next two."""
        names = self._program.outputs
        return list(zip(names, names, self._ops.outputs(self._values(), self._ops.draws(names))))

    def _gradients(self):
        draws = self._ops.draws([update.loss for update in self._program.updates])
        found = []
        for update in self._program.updates:
            gradients = self._ops.descend(update, self._values(), draws).gradients
            found += [(update.name + "/" + name, name, g) for name, g in zip(update.parameters, gradients)]
        return found

    def _parameters_now(self):
        return [(name, name, variable.read_value()) for name, variable in self._parameters.items()]

    def _values(self):
        """Every variable as it is at this point of the graph."""
        variables = list(self._batch.items()) + list(self._parameters.items())
        return {name: variable.read_value() for name, variable in variables}

    def _batch_variable(self, source):
        return self._zeros(source.name, tf.int64 if source.dtype == "integer" else self._kept_type)

    def _zeros(self, name, kind):
        """Loaded later: a graph that holds initial values may become too large for TensorFlow."""
        return tf.Variable(tf.zeros(self._ops.forms.of[name].lies, kind), trainable=False)

    def _load(self, variable, array, name):
        variable.load(placed(array, self._ops.forms.of[name], self._kept_type), self._session)


def _config(threads):
    return tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)


UNSUPPORTED = {}
