"""Where images are in iDeep's blocks, and where they must not be.

iDeep lays out the images of its layers in blocks, and puts them in plain order when something else reads them: the
array itself, at any time. ideep4py 2.0.0 errs in four ways. It multiplies and divides arrays in blocks wrongly. The
gradient of its max pool looks up maxima in the order in which the pool found them, whatever order the array has by
then. The gradient of its response norm is wrong for arrays in plain order. And it ends the process where it joins
arrays in blocks with others.
"""

import numpy as np
from chainer import functions
from chainer.backends import intel64
from chainer.function_node import FunctionNode
from chainer.variable import as_variable

from netdyno_worker.program import shapes

_LAYERS = (
    *("convolution", "transposed_convolution", "max_pool", "mean_pool", "global_mean_pool"),
    *("batch_norm", "local_response_norm", "relu", "concat", "dropout"),
)
# Neither these nor their gradients multiply, so images and gradients in blocks pass through them.
_PASSING = ("add", "subtract", "slice", "flatten", "reshape", "transpose", "stop_gradient")
_BLOCK = 16  # channels, at most
_AS_BEFORE = ("relu", "max_pool", "mean_pool")  # these leave an image as a convolution laid it out


class Layouts(object):
    """left: (node, input) where an image or its gradient must be put in plain order. reordered: images that are put
    in plain order after they were made. as_convolved: those that lie as a convolution or the user gave them."""

    def __init__(self, program, nodes):
        self._shapes = known = shapes(program)
        given = {value.name for value in program.inputs + program.parameters}
        self.reordered = {name for node in nodes if node.op not in _LAYERS for name in node.inputs}
        self.as_convolved = {value.name for value in program.inputs} - self.reordered
        self.left = set()
        in_blocks, multiplied = set(given), set(given)
        for node in nodes:
            images = [name for name in node.inputs if len(known[name]) == 4]
            if self._is_layer(node):
                self.left.update((node.name, name) for name in images if name not in in_blocks)
                in_blocks.add(node.name)
            elif node.op in _PASSING:
                in_blocks.update([node.name] if in_blocks.issuperset(images) else [])
            else:
                self.left.update((node.name, name) for name in images if name not in multiplied)
                multiplied.add(node.name)
            if node.op == "convolution" or (node.op in _AS_BEFORE and node.inputs[0] in self.as_convolved):
                self.as_convolved.update({node.name} - self.reordered)

    def _is_layer(self, node):
        if node.op == "local_response_norm":
            return node.inputs[0] in self.as_convolved
        if node.op == "concat":
            return all(self._shapes[name][1] % _BLOCK == 0 for name in node.inputs)
        return node.op in _LAYERS


def plain_for(device):
    """function(x) that gives x, and back its gradient, as arrays of NumPy."""
    return (lambda x: _Plain().apply((x,))[0]) if device.name == "@intel64" else (lambda x: x)


class _Plain(FunctionNode):
    def forward(self, inputs):
        return (_as_numpy(inputs[0]),)

    def backward(self, indexes, gradients):
        return (as_variable(_as_numpy(gradients[0].array)),)


def _as_numpy(array):
    return np.asarray(array) if isinstance(array, intel64.mdarray) else array


def response_norm(x, size, k, alpha, beta):
    """In Chainer's own ops; `alpha` is of each square, as in its function."""
    channels, sides = x.shape[1], (size // 2, (size - 1) // 2)
    squares = functions.pad(x * x, ((0, 0), sides, (0, 0), (0, 0)), "constant")
    total = sum(squares[:, first : first + channels] for first in range(size))
    return x * (k + alpha * total) ** -beta
