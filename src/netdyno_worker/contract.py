"""What an adapter is: the few functions that let netdyno train a network in a framework.

An adapter is a folder `netdyno_worker/adapters/NAME/`. Its `trainer.py` has

    UNSUPPORTED  a literal dict {op name: reason} of the ops that it does not train; it trains all others. Names such
                 as "concat/axis" are of one form of an op, see program.needs
    versions()   {"library": "version", ...}, without touching the device
    build(job)   a Trainer for a Job, or raises Unsupported

and its `ops.py`, the translation of ops, ends with

    FUSED        a literal set of the composite ops that it translates as a whole; others arrive as primitives

Files have the same names in every adapter: `optimizers.py`, `pipeline.py` (the framework's own input pipeline), and
others where a framework needs them. Arithmetic that is no framework's API is in `adapters/kit/`. An adapter outside
the package may also be a single module `NAME.py` with all of these names.

Timing, loops and statistics are never in an adapter, so they cannot differ between frameworks.
"""

import importlib
from collections import namedtuple

# program: program.Program. device: "cpu" or "cuda".
# precision: "float32" (strict), "tf32", "bfloat16", "float16", "float64" (for proofs: everything in it).
# execution: "eager", "compiled", "cudagraph" or "compiled-cudagraph". threads: how many CPU threads to compute with.
# initial: function(parameter name) -> its initial value as a C-contiguous float32 array (NCHW meaning).
# seed: seeds the framework's own generator for dropout and draws.
Job = namedtuple("Job", "program device precision execution threads initial seed")

# A split of real images for an input pipeline. format: "packed" or the framework's own. root: the packed file, or the
# folder in which the format lies. split: "train" or "test". transforms: {"mean", "std" per channel of 0..1, "crop":
# side or None, "pad": black pixels around, "flip": bool, "resized": bool}: `resized` is a random crop of 8 to 100 %
# of the area and an aspect of 3/4 to 4/3, scaled to `crop`. threads: that may load. count, classes: of the split.
# seed: of order and transforms.
Files = namedtuple("Files", "format root split transforms threads count classes seed")


class Unsupported(Exception):
    """This framework cannot do what was asked; the message is the reason a user reads."""


class OutOfMemory(Exception):
    """The device or the host had no memory left."""


class Trainer(object):
    """What build() returns. Subclassing is welcome, not needed."""

    def feed(self, batch):
        """Place {input name: array} on the device; later steps train on it."""
        raise NotImplementedError

    def step(self):
        """Make every update once, in order, and return without waiting for the device."""
        raise NotImplementedError

    def wait(self):
        """Return when everything asked for so far has been computed."""
        raise NotImplementedError

    def read(self, what):
        """Arrays as numpy, in the graph's names, shapes and NCHW meaning.

        "outputs"     {output name: array}: a forward pass with the current parameters, in training mode,
                      which leaves parameters and running statistics as they were
        "gradients"   {"update/parameter": array}: of each update's loss at the current parameters, likewise
        "parameters"  {parameter name: array}: current values, running statistics included
        "losses"      {update name: float}: as computed by the last step, before its update
        """
        return getattr(self, "_read_" + what)()

    def peak_bytes(self):
        """The most device memory in use at once for tensors, as the framework counts; None where it cannot say."""
        return None

    def reserved_bytes(self):
        """The most device memory that the framework took from the device, used or not; None where it cannot say."""
        return None

    def forget_peak(self):
        """Count both peaks from zero again; where a framework cannot, they are of the whole run."""

    def stages(self):
        """[("forward", function), ("backward", function), ("update", function)]: each function does a step up to and
        with its stage and, like step(), does not wait. None where a framework cannot do part of a step."""
        return None

    def pipeline(self, files):
        """The framework's own input pipeline over `files`, endless and in full batches: an object with

        feed()     place the next batch as feed(batch) would; steps then train on it
        skip()     take the next batch and drop it: loading alone is timed with it
        seconds()  {"stage_s": seconds so far}: what it knows of its stages, perhaps nothing
        close()    end its threads and processes
        notes      a dict of what differs from packed data: the order, who decodes
        """
        raise Unsupported("this framework has no input pipeline of its own; use packed data")

    def settings(self):
        """What the adapter chose by itself, for the record: layout, optimizer form, flags."""
        return {}


def load_adapter(name):
    """The module with an adapter's functions: `trainer` in its folder, or the adapter itself if it is one module."""
    adapter = importlib.import_module("netdyno_worker.adapters." + name)
    is_folder = hasattr(adapter, "__path__")
    return importlib.import_module(adapter.__name__ + ".trainer") if is_folder else adapter
