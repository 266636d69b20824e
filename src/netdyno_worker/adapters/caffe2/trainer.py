"""Trains a program with Caffe2: one net per update, which holds forward pass, gradients and parameter updates.

The net is created once and runs in C++; on a CPU its convolutions, pools and norms are those of IDEEP (MKL-DNN).
"""

import itertools

import numpy as np
import torch.version
from caffe2.python import core, workspace

from netdyno_worker.adapters.caffe2.devices import CPU, CUDA, IDEEP, Placement
from netdyno_worker.adapters.caffe2.nets import plan_outputs, plan_update
from netdyno_worker.adapters.caffe2.optimizers import adam_corrections
from netdyno_worker.adapters.kit.statistics import variance_factors
from netdyno_worker.contract import Trainer, Unsupported
from netdyno_worker.program import shapes

# On a CPU one operator after another, each with all threads; on CUDA that would wait after each operator.
NET_TYPES = {"cpu": "simple", "cuda": "async_scheduling"}
_numbers = itertools.count()
_entered = [None]  # the workspace that the library works in
_started = []  # the threads that the library was started with: once in a process


def versions():
    found = {"caffe2 (torch)": torch.version.__version__, "numpy": np.__version__}
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
    return found


def build(job):
    if job.precision != "float32":
        raise Unsupported("Caffe2 trains in float32 here, received precision '%s'" % job.precision)
    if job.execution != "compiled":
        raise Unsupported("Caffe2 runs nets, which are made before they run; it has no eager execution")
    if job.device == "cuda" and not workspace.NumCudaDevices():
        raise Unsupported("this Caffe2 finds no CUDA device")
    if not _started:
        _start(job.threads)
    return Caffe2Trainer(job)


class Caffe2Trainer(Trainer):
    """Has its own workspace, because a process may build several trainers; it is emptied with the trainer."""

    def __init__(self, job):
        self._space = "trainer %d" % next(_numbers)
        self._enter()
        self._job = job
        self._program = job.program
        self._shapes = shapes(job.program)
        self._kinds = [CUDA] if job.device == "cuda" else [CPU, IDEEP] if _has_ideep() else [CPU]
        self._placement = Placement(self._kinds, [p.name for p in job.program.parameters if p.trainable], job.seed)
        # On a CPU the library averages biased variances, so it is given the graph's divided by the factor.
        self._factors = variance_factors(job.program) if job.device == "cpu" else {}
        self._fed = set()
        self._names = {}  # {net: {blob: the name to fetch it by when the net has run}}
        self._updates = [_Update(job.program, update) for update in job.program.updates]
        self._make([update.plan for update in self._updates])
        self._outputs = None
        self._gradients = None

    def __del__(self):
        before = _entered[0]
        self._enter()
        workspace.ResetWorkspace()
        if before is not None:
            workspace.SwitchWorkspace(before, True)
            _entered[0] = before

    def _enter(self):
        if _entered[0] != self._space:
            workspace.SwitchWorkspace(self._space, True)
            _entered[0] = self._space

    def feed(self, batch):
        self._enter()
        for name, array in batch.items():
            whole = np.asarray(array).dtype.kind == "i"
            self._place(name, np.array(array, np.int32 if whole else np.float32, order="C"))

    def step(self):
        self._enter()
        for update in self._updates:
            for blob, number in update.corrections():
                self._place(blob, np.full(1, number, np.float32))
            workspace.RunNet(update.name)

    def read(self, what):
        self._enter()
        return Trainer.read(self, what)

    def wait(self):
        """RunNet returns when the net has been computed."""

    def settings(self):
        kind = {CPU: "cpu", IDEEP: "ideep", CUDA: "cuda"}[self._kinds[-1]]
        return {"layout": "nchw", "operators": kind, "net": NET_TYPES[self._job.device], "threads": self._job.threads}

    def _make(self, plans):
        """Place the operators, feed what they start from, and let the library create the nets."""
        for plan in plans:
            self._names[plan.net.Name()] = self._placement.place(plan.net.Proto())
            plan.net.Proto().type = NET_TYPES[self._job.device]
        for parameter in self._program.parameters:
            self._feed_once(parameter.name, lambda p=parameter: self._initial(p.name))
        for plan in plans:
            for blob, number in plan.constants.items():
                self._feed_once(blob, lambda n=number: np.full(1, n, np.float32))
            for blob, parameter in plan.moments.items():
                self._feed_once(blob, lambda p=parameter: np.zeros(self._shapes[p], np.float32))
        for source in self._program.inputs:
            workspace.CreateBlob(self._placement.name(source.name))
        for plan in plans:
            workspace.CreateNet(plan.net)

    def _initial(self, name):
        return self._job.initial(name) / np.float32(self._factors.get(name, 1.0))

    def _feed_once(self, blob, value):
        if blob not in self._fed:
            self._fed.add(blob)
            self._place(blob, value())

    def _place(self, blob, array):
        # A scalar that came out of arithmetic is no array any more.
        workspace.FeedBlob(self._placement.name(blob), np.asarray(array), self._placement.option(blob))

    def _fetch(self, plan, value):
        blob = plan.blobs[value]
        return self._array(self._names[plan.net.Name()].get(blob, blob), value)

    def _read_parameters(self):
        names = [p.name for p in self._program.parameters]
        return {name: self._read_fed(name) * np.float32(self._factors.get(name, 1.0)) for name in names}

    def _read_fed(self, name):
        return self._array(self._placement.name(name), name)

    def _array(self, blob, value):
        return np.array(workspace.FetchBlob(blob), np.float32).reshape(self._shapes[value])

    def _read_outputs(self):
        if self._outputs is None:
            self._outputs = plan_outputs(self._program)
            self._make([self._outputs])
        self._run_and_restore(self._outputs)
        return {name: self._fetch(self._outputs, name) for name in self._program.outputs}

    def _read_losses(self):
        return {u.update.name: float(self._fetch(u.plan, u.update.loss)) for u in self._updates}

    def _read_gradients(self):
        if self._gradients is None:
            self._gradients = [plan_update(self._program, u, moving=False) for u in self._program.updates]
            self._make(self._gradients)
        found = {}
        for update, plan in zip(self._program.updates, self._gradients):
            self._run_and_restore(plan)
            names = self._names[plan.net.Name()]
            for parameter in update.parameters:
                blob = plan.gradients.get(parameter)
                zeros = np.zeros(self._shapes[parameter], np.float32)
                gradient = zeros if blob is None else self._array(names[blob], parameter)
                found[update.name + "/" + parameter] = gradient
        return found

    def _run_and_restore(self, plan):
        """Run a net that may move running statistics, and put them back."""
        state = {p.name: self._read_fed(p.name) for p in self._program.parameters if not p.trainable}
        workspace.RunNet(plan.net.Name())
        for name, array in state.items():
            self._place(name, array)


class _Update(object):
    """One update's net, and the numbers that change from step to step."""

    def __init__(self, program, update):
        self.update = update
        self.plan = plan_update(program, update, moving=True)
        self.name = self.plan.net.Name()
        self._steps = 0

    def corrections(self):
        """(blob, number) to be fed before the next step: Adam's corrections of the bias."""
        if self.update.optimizer["kind"] != "adam":
            return ()
        self._steps += 1
        return adam_corrections(self.update.optimizer, self.name, self._steps)


def _start(threads):
    """The library reads its flags once in a process."""
    flags = ("--caffe2_log_level=2", "--caffe2_omp_num_threads=%d", "--caffe2_mkl_num_threads=%d")
    core.GlobalInit(["caffe2"] + [flag % threads if "%" in flag else flag for flag in flags])
    _started.append(threads)


def _has_ideep():
    """Was the library built with it?"""
    ideep = core.DeviceOption(IDEEP)
    try:
        workspace.FeedBlob("probe", np.zeros((1, 1), np.float32), ideep)
        workspace.RunOperatorOnce(core.CreateOperator("Relu", ["probe"], ["probe"], device_option=ideep))
    except RuntimeError:
        return False
    return True


UNSUPPORTED = {}
