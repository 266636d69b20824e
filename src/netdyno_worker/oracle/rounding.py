"""What rounding makes of a value: a random error as large as the precision's own, so that a replay shows how such
errors spread through a network.

Where a value lies so near a kink (a relu at zero, a tie in a pool) that rounding may take it to the other side, one
replay takes a random half of such values there and another the other half: each is seen on its wrong side once. Two
more do so from the second step on only: what changes sides in the first step moves parameters, and with those moved
other values lie near their kinks.
"""

import zlib

import numpy as np

# The largest relative error of rounding to nearest: of values, of what a matrix product reads, of parameters as kept.
# Of float64, in which replays compute, the distance between two numbers: half of it would round to nothing.
UNITS = {
    "float64": (2.0**-52, 2.0**-52, 2.0**-52),
    "float32": (2.0**-24, 2.0**-24, 2.0**-24),
    "tf32": (2.0**-24, 2.0**-11, 2.0**-24),
    "bfloat16": (2.0**-8, 2.0**-8, 2.0**-24),
    "float16": (2.0**-11, 2.0**-11, 2.0**-24),
}
# Times the noise of a value: rounding takes none across a kink from further away. Kernels are less exact than they
# could be, in units of float32 or of float64.
NEAR = {"float64": 30.0, "float32": 30.0, "tf32": 3.0, "bfloat16": 3.0, "float16": 3.0}
SMOOTH = 2  # the number of the replay that takes nothing across
EVERY_STEP, LATER_STEPS = (0, 1), (3, 4)  # the numbers of pairs of replays, by when they take values across
PRODUCTS = {"convolution", "linear", "transposed_convolution", "matmul"}
SMALLEST = {"float16": 2.0**-25}  # half the distance between its smallest numbers
DRAWS = 2**20 + 7  # errors that are drawn once: each array gets them from a random place on, in a circle


class Exact(object):
    """Nothing is rounded, and nothing changes sides."""

    def flips(self, node, step):
        return None

    def gradient(self, name, array, step):
        return array

    def inputs(self, node, arrays):
        return arrays

    def sum(self, array, axes):
        return array.sum(axis=axes)

    def product(self, array, count, *factors):
        return array

    def constants(self, optimizer):
        return optimizer

    def value(self, array):
        return array

    def parameter(self, array):
        return array


EXACT = Exact()


class Rounding(object):
    """Everything a precision rounds, at random by `number`."""

    def __init__(self, precision, number, noises=()):
        """`noises`: for each step how far rounding takes each value, for the kinks behind it."""
        self._value, self._product, self._parameter = UNITS[precision]
        self._sums = max(UNITS["float64"][0], min(UNITS[precision]))  # they are kept wider than values
        self._smallest = SMALLEST.get(precision, 0.0)
        self._random = np.random.default_rng([number, 7])
        self._draws = self._random.uniform(-1.0, 1.0, DRAWS)
        self._factors = {unit: 1.0 + unit * self._draws for unit in UNITS[precision]}
        self._near = NEAR[precision]
        self._number = number
        self._noises = noises

    def flips(self, node, step):
        """For a node with a kink: how near is too near, and a function(shape) -> which of such values change sides.
        The two replays of a pair share their draws and take opposite halves."""
        if not self._takes_across(step):
            return None
        return self._near_of(node.inputs[0], step), lambda shape: self._chosen(node.name, shape)

    def gradient(self, name, array, step):
        """What an optimizer reads. Some move a parameter by a gradient's sign alone, so that zero is a kink too."""
        if not self._takes_across(step):
            return array
        turned = (np.abs(array) < self._near_of(name, step)) & self._chosen(name, np.shape(array))
        return np.where(turned, -array, array)

    def _takes_across(self, step):
        return self._number in EVERY_STEP or (self._number in LATER_STEPS and step > 0)

    def _near_of(self, name, step):
        return self._near * self._noises[min(step, len(self._noises) - 1)].get(name, 0.0)

    def _chosen(self, name, shape):
        """Half of them at random; the other half in the pair's other replay."""
        count = int(np.prod(shape))
        bits = np.random.default_rng([zlib.crc32(name.encode("utf-8"))]).bytes(-(-count // 8))
        drawn = np.unpackbits(np.frombuffer(bits, dtype=np.uint8))[:count].reshape(shape)
        return drawn != self._number % 2

    def inputs(self, node, arrays):
        """As a node reads them: parameters are kept wider than they are used."""
        unit = self._product if node.op in PRODUCTS else self._value
        return arrays if unit == self._parameter else [self._rounded(array, unit) for array in arrays]

    def sum(self, array, axes):
        """Of many numbers, one after the other, the first axis last: each addition rounds what was added up until
        then. By as much as that comes to, up or down: of a few sums, random errors might all happen to be small."""
        items = array.sum(axis=axes[1:])
        total = items.sum(axis=axes[0])
        so_far = np.square(np.cumsum(items, axis=axes[0])).mean(axis=axes[0])  # items may cancel in the end
        squares = np.square(array).sum(axis=axes) + so_far
        error = self._sums * np.sqrt(squares * (array.size // max(total.size, 1)))
        return total + error * self._random.choice((-1.0, 1.0), total.shape)

    def product(self, array, count, *factors):
        """Each number of which is a sum of `count` products: it rounds as its terms do, also where they cancel."""
        typical = np.sqrt(count) * np.prod([_root_mean_square(factor) for factor in factors])
        return _in_circles(np.add, array, self._sums * typical * self._draws, self._random.integers(DRAWS))

    def constants(self, optimizer):
        """An optimizer's numbers as a framework keeps them, and how it rounds their powers: of 1 - 0.999 little is
        left in float32."""
        found = {name: self._constant(name, value) for name, value in optimizer.items()}
        return dict(found, rounded=lambda power: self._constant(repr(power), power))

    def _constant(self, name, value):
        """Each at its largest error, up or down by its name."""
        if not isinstance(value, float):
            return value
        up = (zlib.crc32(name.encode("utf-8")) + self._number) % 2
        return value * (1.0 + (self._parameter if up else -self._parameter))

    def value(self, array):
        return self._rounded(array, self._value)

    def parameter(self, array):
        return self._rounded(array, self._parameter)

    def _rounded(self, array, unit):
        array = np.asarray(array)
        if array.dtype.kind != "f":
            return array
        place = self._random.integers(DRAWS)
        rounded = _in_circles(np.multiply, array, self._factors[unit], place)
        return _in_circles(np.add, rounded, self._smallest * self._draws, place) if self._smallest else rounded


def unit_of_parameters(precision):
    return UNITS[precision][2]


def distances(exact, rounded):
    """{name: root mean square of the difference}."""
    return {name: float(np.sqrt(np.mean(np.square(exact[name] - value)))) for name, value in rounded.items()}


def _root_mean_square(array):
    flat = array.reshape(-1)
    return np.sqrt(np.dot(flat, flat) / max(len(flat), 1))


def _in_circles(function, array, others, place):
    """function(array, others) with `others` from a place on, again and again until the array's end."""
    flat = np.ascontiguousarray(array).reshape(-1)
    found = np.empty_like(flat)
    done = 0
    while done < len(flat):
        part = others[place : place + len(flat) - done]
        function(flat[done : done + len(part)], part, out=found[done : done + len(part)])
        done, place = done + len(part), 0
    return found.reshape(array.shape)
