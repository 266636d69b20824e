"""What a Caffe net is made of: layers in order, the blobs of every value, and their prototxt.

Caffe infers by itself which blobs need a gradient, but knows nothing of values through which none may pass. So every
value carries whether it needs one, and a layer spells `propagate_down` out wherever Caffe would infer otherwise.
"""

import os
import shutil
import tempfile
from collections import OrderedDict, namedtuple

from netdyno_worker.contract import Unsupported

# Where a value is: its blob, and whether the loss's gradient is wanted there.
Value = namedtuple("Value", "blob need")
# A batch norm's running statistics: its layer, the names of both, and the share of the new batch.
Statistics = namedtuple("Statistics", "layer mean variance momentum")


class Word(str):
    """A value of an enumeration: written without quotes."""


class Layer(object):
    """One layer; `settings` are further fields as (name, value) pairs, messages as lists of such pairs."""

    def __init__(self, name, kind, bottoms, top, settings):
        self.name = name
        self.kind = kind
        self.bottoms = bottoms
        self.top = top
        self.settings = list(settings)
        self.loss_weight = None

    def fields(self):
        found = [("name", self.name), ("type", self.kind)]
        found += [("bottom", value.blob) for value in self.bottoms] + [("top", self.top)]
        if self.loss_weight is not None:
            found.append(("loss_weight", self.loss_weight))
        return found + self.settings


class Net(object):
    """Collects layers. `trained` are the parameters that its solver moves.

    `weights` is {parameter: [(layer name, place among its blobs), ...]}, the owner first.
    """

    def __init__(self, program, trained):
        self._shapes = {p.name: p.shape for p in program.parameters}
        self._trained = set(trained)
        self._caffe_needs = {}  # blob: what Caffe infers
        self._makers = {}  # blob: the layer that makes it
        self.layers = []
        self.inputs = []
        self.weights = OrderedDict()
        self.statistics = []
        self.constants = {}
        self.places = {}

    def add(self, name, kind, bottoms, settings=(), weights=(), inplace=False):
        """A layer with one top; its Value. `weights` are the parameters that it holds."""
        top = bottoms[0].blob if inplace else name
        layer = Layer(name, kind, bottoms, top, settings)
        layer.settings += [("param", self._held(parameter, name, i)) for i, parameter in enumerate(weights)]
        inferred = [self._caffe_needs[value.blob] for value in bottoms]
        if inferred != [value.need for value in bottoms]:
            layer.settings += [("propagate_down", value.need) for value in bottoms]
        moves = any(parameter in self._trained for parameter in weights)
        self._caffe_needs[top] = moves or any(inferred)
        self._makers[top] = layer
        self.layers.append(layer)
        return Value(top, moves or any(value.need for value in bottoms))

    def add_loss(self, name, kind, bottoms, settings=()):
        """A loss layer: without a weight of 0 Caffe would minimise it, whether or not it is the update's loss."""
        value = self.add(name, kind, bottoms, settings)
        self._makers[value.blob].loss_weight = 0.0
        return value

    def add_input(self, name, shape):
        """A blob that is filled from outside."""
        return self.add(name, "Input", [], [("input_param", [("shape", dimensions(shape))])])

    def minimise(self, name):
        """Make this value the loss."""
        self._makers[self.places[name].blob].loss_weight = 1.0

    def value(self, name):
        """Where a value is; a parameter that is used as one comes out of a layer of its own."""
        if name not in self.places:
            if name in self.weights:
                raise _mixed(name)
            shape = [("parameter_param", [("shape", dimensions(self._shapes[name]))])]
            self.places[name] = self.add(name, "Parameter", [], shape, [name])
        return self.places[name]

    def is_parameter(self, name):
        return name in self._shapes

    def text(self):
        return to_text([("layer", layer.fields()) for layer in self.layers])

    def _held(self, parameter, layer, place):
        """How a layer declares a parameter: layers that name the same one share it."""
        if parameter in self.places:
            raise _mixed(parameter)
        self.weights.setdefault(parameter, []).append((layer, place))
        return [("name", parameter), ("lr_mult", 1.0 if parameter in self._trained else 0.0)]


def dimensions(shape):
    return [("dim", length) for length in shape]


def to_text(fields, indent=""):
    """Fields as protobuf text."""
    lines = []
    for name, value in fields:
        if isinstance(value, list):
            lines.append("%s%s {\n%s%s}\n" % (indent, name, to_text(value, indent + "  "), indent))
        else:
            lines.append("%s%s: %s\n" % (indent, name, _literal(value)))
    return "".join(lines)


def from_text(make, text):
    """The result of `make(path)` for a file with that text: Caffe reads its nets from files only."""
    folder = tempfile.mkdtemp(prefix="netdyno-caffe-")
    try:
        path = os.path.join(folder, "net.prototxt")
        with open(path, "w") as file:
            file.write(text)
        return make(path)
    finally:
        shutil.rmtree(folder)


def _literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Word):
        return value
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')
    return repr(value)


def _mixed(name):
    return Unsupported("parameter '%s' is both a weight and a value: Caffe would lose one of its gradients" % name)
