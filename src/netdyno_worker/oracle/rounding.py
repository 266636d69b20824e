"""What rounding makes of a value: a random error as large as the precision's own, so that a replay shows how such
errors spread through a network.

Where a value lies so near a kink (a relu at zero, a tie in a pool) that rounding may take it to the other side, one
replay takes a random half of such values there and another the other half: each is seen on its wrong side once.
"""

import zlib

import numpy as np

# The largest relative error of rounding to nearest: of values, of what a matrix product reads, of parameters as kept.
UNITS = {
    "float64": (2.0**-53, 2.0**-53, 2.0**-53),
    "float32": (2.0**-24, 2.0**-24, 2.0**-24),
    "tf32": (2.0**-24, 2.0**-11, 2.0**-24),
    "bfloat16": (2.0**-8, 2.0**-8, 2.0**-24),
    "float16": (2.0**-11, 2.0**-11, 2.0**-24),
}
NEAR = 6.0  # times the noise of a value: rounding takes none across a kink from further away
PRODUCTS = {"convolution", "linear"}
SMALLEST = {"float16": 2.0**-25}  # half the distance between its smallest numbers


class Exact(object):
    """Nothing is rounded, and nothing changes sides."""

    def flips(self, node):
        return None

    def inputs(self, node, arrays):
        return arrays

    def value(self, array):
        return array

    def parameter(self, array):
        return array


class Rounding(object):
    """Everything a precision rounds, at random by `number`."""

    def __init__(self, precision, number):
        self._value, self._product, self._parameter = UNITS[precision]
        self._smallest = SMALLEST.get(precision, 0.0)
        self._random = np.random.default_rng([number, 7])
        self._number = number
        self._noise = {}

    def learn(self, exact, rounded):
        """How far rounding takes each value, for the kinks behind it. Until then nothing changes sides."""
        for name, value in rounded.items():
            self._noise[name] = float(np.sqrt(np.mean(np.square(exact[name] - value))))

    def flips(self, node):
        """For a node with a kink: how near is too near, and a function(shape) -> which of such values change sides.
        The first two replays share their draws and take opposite halves; later ones flip nothing."""
        if self._number > 1:
            return None

        def chosen(shape):
            drawn = np.random.default_rng([zlib.crc32(node.name.encode("utf-8"))]).random(shape) < 0.5
            return ~drawn if self._number else drawn

        return NEAR * self._noise.get(node.inputs[0], 0.0), chosen

    def inputs(self, node, arrays):
        """As a node reads them: parameters are kept wider than they are used."""
        unit = self._product if node.op in PRODUCTS else self._value
        return arrays if unit == self._parameter else [self._rounded(array, unit) for array in arrays]

    def value(self, array):
        return self._rounded(array, self._value)

    def parameter(self, array):
        return self._rounded(array, self._parameter)

    def _rounded(self, array, unit):
        if np.asarray(array).dtype.kind != "f":
            return array
        error = self._random.random(np.shape(array), dtype=np.float32)
        error = (2.0 * error - 1.0) * np.float32(unit)
        rounded = array + array * error
        return rounded + error * (self._smallest / unit) if self._smallest else rounded
