"""What rounding makes of a value: a random error as large as the precision's own, so that a replay shows how such
errors spread through a network."""

import numpy as np

# The largest relative error of rounding to nearest: of values, of what a matrix product reads, of parameters as kept.
UNITS = {
    "float64": (2.0**-53, 2.0**-53, 2.0**-53),
    "float32": (2.0**-24, 2.0**-24, 2.0**-24),
    "tf32": (2.0**-24, 2.0**-11, 2.0**-24),
    "bfloat16": (2.0**-8, 2.0**-8, 2.0**-24),
    "float16": (2.0**-11, 2.0**-11, 2.0**-24),
}
PRODUCTS = {"convolution", "linear"}
SMALLEST = {"float16": 2.0**-25}  # half the distance between its smallest numbers


class Exact(object):
    """Nothing is rounded."""

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
