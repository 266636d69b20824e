"""In which order values are kept in memory for TensorFlow: images NHWC, kernels HWIO, matrices (in, out).

A flattened image is in HWC order where only linear layers read it: the rows of their matrices are put in that order
once, so that no step has to transpose the image.
"""

from collections import namedtuple

import numpy as np

from netdyno_worker.program import kinds, shapes

# shape: in the graph. view: the same elements with the axes that `axes` puts in another order. lies: in memory.
Form = namedtuple("Form", "shape view axes lies")
# The kind of a value, and the form that an op takes it in.
Natural = namedtuple("Natural", "kind form")

ORDERS = {"image": (0, 2, 3, 1), "kernel": (2, 3, 1, 0)}  # of the axes of a kind; others have the graph's


def laid(value, form, library):
    """A value in the graph's order as it lies in memory; `library` is numpy or one with the same two functions."""
    if form.axes is None:
        return value if form.lies == form.shape else library.reshape(value, form.lies)
    turned = library.transpose(library.reshape(value, form.view), form.axes)
    return library.reshape(turned, form.lies)


def restored(value, form, library):
    """The reverse of laid()."""
    if form.axes is None:
        return value if form.lies == form.shape else library.reshape(value, form.shape)
    turned = library.reshape(value, [form.view[axis] for axis in form.axes])
    back = [int(axis) for axis in np.argsort(form.axes)]
    return library.reshape(library.transpose(turned, back), form.shape)


class Forms(object):
    """The forms of a program's values: `of` by name, and what a node wants its inputs to be."""

    def __init__(self, program):
        self._shapes = shapes(program)
        self._kinds = kinds(program)
        self._facts = program.facts
        self._loose = _loose(program)
        self.of = {name: natural(shape, self._kinds[name]) for name, shape in self._shapes.items()}
        for name, image in self._loose.items():
            self.of[name] = flattened(self._shapes[name], image)
        self.of.update(self._parameters(program))

    def wanted(self, node, place):
        """The form in which a node takes its input at `place`; a loss compares values element by element."""
        name = node.inputs[place]
        shape = self._shapes[name]
        if place == 1 and node.op == "linear":
            return _matrix(shape, self._loose.get(node.inputs[0]))
        if name in self._loose:
            return self.of[name]
        return natural(shape, self._kinds[node.inputs[0] if self._facts[node.op].loss else name])

    def _parameters(self, program):
        """As the first user wants it; another that needs it differently transposes it in every step."""
        names = {parameter.name for parameter in program.parameters}
        found = {}
        for node in program.nodes:
            for place, name in enumerate(node.inputs):
                if name in names:
                    found.setdefault(name, self.wanted(node, place))
        return found


def natural(shape, kind):
    """What inputs and most nodes have: images as NHWC, kernels as HWIO, the rest as in the graph."""
    if kind not in ORDERS:
        return Form(shape, shape, None, shape)
    return Form(shape, shape, ORDERS[kind], tuple(shape[axis] for axis in ORDERS[kind]))


def order_of(kind, rank):
    """Which of the graph's axes come one after the other in the natural form of a kind."""
    return ORDERS.get(kind, tuple(range(rank)))


def as_image(shape):
    """What an op takes that wants an image with channels last, whatever the value is."""
    return natural(shape, "image") if len(shape) > 2 else Form(shape, shape, None, (shape[0], 1, 1, shape[1]))


def axis_in(kind, axis):
    """Where the natural form of a kind has one of the graph's axes."""
    return ORDERS[kind].index(axis) if kind in ORDERS else axis


def flattened(shape, image):
    """Rows that are images of shape (channels, height, width), each in HWC order."""
    if not order_matters(image):
        return natural(shape, "plain")
    return Form(shape, shape[:1] + tuple(image), ORDERS["image"], shape)


def order_matters(image):
    """Whether flattening (channels, height, width) in another order gives something else."""
    return image[0] > 1 and image[1] * image[2] > 1


def _matrix(shape, image):
    """(out, in) as (in, out), with rows as a flattened image has them."""
    if image is None:
        return Form(shape, shape, (1, 0), shape[::-1])
    return Form(shape, shape[:1] + tuple(image), ORDERS["kernel"], shape[::-1])


def _loose(program):
    """{name: image shape} of flattened images, and what passes them on, that only linear layers see."""
    known, kind_of, users = shapes(program), kinds(program), {}
    for node in program.nodes:
        for place, name in enumerate(node.inputs):
            users.setdefault(name, []).append((node, place))
    loose = {}
    for node in program.nodes:
        if node.op == "flatten" and kind_of[node.inputs[0]] == "image":
            image = known[node.inputs[0]][1:]
            if order_matters(image):
                loose.update(dict.fromkeys(_seen_by_linears(node.name, users, program), image))
    return loose


def _seen_by_linears(name, users, program):
    """`name` and the elementwise nodes after it; none if anything but a linear layer reads one of them."""
    seen, waiting = [], [name]
    while waiting:
        current = waiting.pop()
        seen.append(current)
        for node, place in users.get(current, []):
            if program.facts[node.op].elementwise and len(node.inputs) == 1:
                waiting.append(node.name)
            elif node.op != "linear" or place != 0:
                return []
    return [] if set(seen) & set(program.outputs) else seen
