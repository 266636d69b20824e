"""Trains a program with Caffe: a net and a solver per update, written as prototxt.

A step is one call of solver.step, so that forward, backward and update run in C++ without Python between layers.
"""

import caffe
import numpy as np
from caffe.proto import caffe_pb2

from netdyno_worker.adapters.caffe.net import from_text
from netdyno_worker.adapters.caffe.ops import Setup, write_net
from netdyno_worker.adapters.caffe.optimizers import SOLVERS, solver_text
from netdyno_worker.adapters.caffe.pipeline import DatumPipeline
from netdyno_worker.adapters.kit.pipeline import filled_inputs
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.program import shapes


def versions():
    return {"caffe": caffe.__version__, "numpy": np.__version__}


def build(job):
    if job.precision != "float32":
        raise Unsupported("Caffe computes in float32 only, received precision '%s'" % job.precision)
    if job.execution != "compiled":
        raise Unsupported("Caffe trains a whole net at a time, received execution '%s'" % job.execution)
    _refuse_common_parameters(job.program)
    _choose_device(job.device)
    caffe.set_random_seed(job.seed % 2**31)
    return CaffeTrainer(job)


class CaffeTrainer(Trainer):
    """The nets of all updates share their blobs; each blob belongs to the net whose solver moves it."""

    def __init__(self, job):
        self._job = job
        self._program = job.program
        self._updates = [_Update(job, update) for update in job.program.updates]
        self._blobs = {}
        for number, update in enumerate(self._updates):
            others = self._updates[:number] + self._updates[number + 1 :]
            self._blobs.update(update.built.own_parameters(update.trained, [other.trained for other in others]))
        for update in self._updates:
            update.built.adopt(self._blobs)
        for name, blob in self._blobs.items():
            blob.data[...] = job.initial(name)
        self._statistics = _Statistics(job, [update.built for update in self._updates])
        self._steps = [update.solver.step for update in self._updates]
        self._outputs = None
        self._batch = {}

    def feed(self, batch):
        self._batch = {name: np.array(array, dtype=np.float32) for name, array in batch.items()}
        for update in self._updates:
            update.built.fill(self._batch)

    def step(self):
        for step in self._steps:
            step(1)

    def wait(self):
        """On a GPU, fetching a blob waits for everything before it; the smallest costs nothing."""
        if self._job.device == "cuda":
            min(self._blobs.values(), key=lambda blob: blob.count).data[...]

    def pipeline(self, files):
        return DatumPipeline(files, filled_inputs(self._program, files), self.feed)

    def settings(self):
        kinds = [SOLVERS[update.optimizer["kind"]] for update in self._program.updates]
        chosen = {"layout": "nchw", "optimizer": ", ".join(kind + "Solver" for kind in kinds)}
        if "Adam" in kinds:
            chosen["adam_epsilon"] = "shrinks by sqrt(1 - beta2) after the first step"
        return chosen

    def _read_outputs(self):
        """From a net of its own over the same parameters; its statistics are its own too."""
        if self._outputs is None:
            self._outputs = _outputs_net(self._job)
            self._outputs.adopt(self._blobs)
            for name, blob in self._outputs.own_parameters((), ()).items():
                if name not in self._blobs:
                    blob.data[...] = self._job.initial(name)
        self._outputs.fill(self._batch)
        self._outputs.net.forward()
        return {name: self._outputs.value(name) for name in self._program.outputs}

    def _read_losses(self):
        return {update.name: update.last_loss() for update in self._updates}

    def _read_gradients(self):
        found = {}
        for update in self._updates:
            statistics = self._statistics.copies()
            gradients = update.gradients()
            self._statistics.restore(statistics)
            found.update({update.name + "/" + name: array for name, array in gradients.items()})
        return found

    def _read_parameters(self):
        found = self._statistics.values()
        for parameter in self._program.parameters:
            name = parameter.name
            if name in self._blobs:
                found[name] = np.array(self._blobs[name].data)
            elif name not in found:
                found[name] = self._job.initial(name)
        return found


class _Update(object):
    """One loss, its net, and the solver that moves its parameters."""

    def __init__(self, job, update):
        self.name = update.name
        self.trained = update.parameters
        self._loss = update.loss
        self._shapes = shapes(job.program)
        written = write_net(job.program, [update.loss], update.parameters, _setup(len(job.program.updates) > 1))
        written.minimise(update.loss)
        text = solver_text(update.optimizer) + "train_net_param {\n%s}\n" % written.text()
        make = caffe.AdamSolver if update.optimizer["kind"] == "adam" else caffe.SGDSolver
        self.solver = from_text(make, text)
        self.built = _Built(self.solver.net, written)

    def gradients(self):
        net = self.built.net
        net.clear_param_diffs()
        net.forward()
        net.backward()
        return {name: self.built.gradient(name, self._shapes[name]) for name in self.trained}

    def last_loss(self):
        return float(self.built.value(self._loss))


class _Built(object):
    """A net and what it was written from: its blobs by the program's names."""

    def __init__(self, net, written):
        self.net = net
        self.written = written
        self.layers = dict(zip(net._layer_names, net.layers))
        for name, array in written.constants.items():
            net.blobs[name].data[...] = array

    def fill(self, batch):
        for name in self.written.inputs:
            self.net.blobs[name].data[...] = batch[name]

    def value(self, name):
        return np.array(self.net.blobs[self.written.places[name].blob].data)

    def gradient(self, name, shape):
        """Zero for a parameter that the loss does not depend on."""
        return np.array(self._owner(name).diff) if name in self.written.weights else np.zeros(shape, np.float32)

    def own_parameters(self, trained, by_others):
        """{parameter: blob} of those that this net trains or that no other does."""
        others = set(name for names in by_others for name in names)
        return {name: self._owner(name) for name in self.written.weights if name in trained or name not in others}

    def adopt(self, blobs):
        """Compute with these blobs in place of the net's own."""
        for name, places in self.written.weights.items():
            if name in blobs:
                for layer, place in places:
                    self.layers[layer].blobs[place] = blobs[name]

    def _owner(self, name):
        layer, place = self.written.weights[name][0]
        return self.layers[layer].blobs[place]


class _Statistics(object):
    """Running statistics in Caffe's form: decaying sums, to be divided by the third blob, the sum of their weights.

    Started at r/m, v/m and 1/m, the sums divided so are the graph's running mean and variance at every step.
    """

    def __init__(self, job, nets):
        self._blobs = {}
        for net in nets:
            for layer, mean, variance, momentum in net.written.statistics:
                held = net.layers[layer].blobs
                if (mean, variance) not in self._blobs:
                    self._blobs[mean, variance] = [held[place] for place in range(3)]
                    for place, start in enumerate((job.initial(mean), job.initial(variance), 1.0)):
                        held[place].data[...] = start / momentum
                for place, blob in enumerate(self._blobs[mean, variance]):
                    held[place] = blob

    def values(self):
        found = {}
        for names, (mean, variance, weight) in self._blobs.items():
            found.update(zip(names, (mean.data / weight.data, variance.data / weight.data)))
        return found

    def copies(self):
        return [np.array(blob.data) for blobs in self._blobs.values() for blob in blobs]

    def restore(self, copies):
        for blob, copy in zip((blob for blobs in self._blobs.values() for blob in blobs), copies):
            blob.data[...] = copy


def _outputs_net(job):
    written = write_net(job.program, job.program.outputs, (), _setup(True))
    return _Built(from_text(lambda path: caffe.Net(path, caffe.TRAIN), written.text()), written)


def _setup(apart):
    return Setup("round_mode" in caffe_pb2.PoolingParameter.DESCRIPTOR.fields_by_name, apart)


def _choose_device(device):
    if device == "cpu":
        caffe.set_mode_cpu()
        return
    with open("/proc/self/maps") as file:
        if "libcublas" not in file.read():  # such a build ends the process when a GPU is requested
            raise Unsupported("this Caffe was built without CUDA")
    caffe.set_device(0)
    caffe.set_mode_gpu()


def _refuse_common_parameters(program):
    trainers = {}
    for update in program.updates:
        for name in update.parameters:
            if name in trainers:
                found = (name, trainers[name], update.name)
                raise Unsupported(
                    "parameter '%s' is moved by updates '%s' and '%s': Caffe's solvers own theirs" % found
                )
            trainers[name] = update.name


UNSUPPORTED = {
    "transposed_convolution": "Deconvolution layers would do it; untried, as no package has Caffe 1.0",
    "matmul": "Caffe 1.0 multiplies values by a layer's own weights only, never by each other",
    "reshape": "Reshape layers would do it; untried, as no package has Caffe 1.0",
    "transpose": "Caffe 1.0 has no layer that reorders axes",
    "slice": "Slice layers would do it; untried, as no package has Caffe 1.0",
    "concat/axis": "Concat layers would do it; untried, as no package has Caffe 1.0",
    "reduce_sum": "Reduction layers would do it over last axes; untried, as no package has Caffe 1.0",
    "reduce_mean": "Reduction layers would do it over last axes; untried, as no package has Caffe 1.0",
    "reduce_max": "Caffe 1.0 has no layer that takes maxima along an axis; its Reduction sums",
    "add/broadcast": "Bias layers would repeat one side; untried, as no package has Caffe 1.0",
    "multiply/broadcast": "Scale layers would repeat one side; untried, as no package has Caffe 1.0",
    "subtract": "Eltwise layers would do it; untried, as no package has Caffe 1.0",
    "divide": "Caffe 1.0 has no layer that divides; by a Power layer it is untried, as no package has Caffe 1.0",
    "exp": "Exp layers would do it; untried, as no package has Caffe 1.0",
    "log": "Log layers would do it; untried, as no package has Caffe 1.0",
    "rsqrt": "Power layers would do it; untried, as no package has Caffe 1.0",
    "erf": "Caffe 1.0 has no layer for it",
    "softmax": "Softmax layers would do it; untried, as no package has Caffe 1.0",
    "softplus": "BNLL layers would do it; untried, as no package has Caffe 1.0",
    "clamp": "Caffe 1.0 has no layer with two bounds; its Clip layer came later",
    "gather": "Embed layers would do it; untried, as no package has Caffe 1.0",
    "one_hot": "Caffe 1.0 has no layer that marks classes",
}
