"""Initial weights by name, and a digest that shows every framework started from the same ones."""

import hashlib

import numpy as np

from netdyno_worker.feed.draws import draw
from netdyno_worker.program import constants


class Weights(object):
    """Makes each parameter when the adapter asks for it, and remembers its hash; `keep` also its value. Those that
    are `given`, by name, are not drawn."""

    def __init__(self, program, seed, keep=False, given=None):
        self._parameters = {parameter.name: parameter for parameter in program.parameters}
        self._constants = constants(program)
        self._seed = seed
        self._hashes = {}
        self._kept = {} if keep else None
        self._given = given or {}

    def initial(self, name):
        """The initial value of one parameter as a float32 array."""
        if self._kept and name in self._kept:
            return self._kept[name].copy()
        parameter = self._parameters[name]
        array = self._given.get(name)
        if array is None:
            array = draw(parameter.initial, name, parameter.shape, self._seed)
        self._hashes[name] = hashlib.sha256(np.ascontiguousarray(array)).hexdigest()
        if self._kept is not None:
            self._kept[name] = array.copy()
        return array

    def digest(self):
        """Sixteen hex digits over every parameter but constants, which only some frameworks are given: the others
        compute with a kernel of their own. Those not asked for are drawn now."""
        names = sorted(set(self._parameters) - self._constants)
        for name in names:
            if name not in self._hashes:
                self.initial(name)
        lines = ["%s %s" % (name, self._hashes[name]) for name in names]
        return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:16]


class Blank(object):
    """Weights for trials whose results nobody reads: filled, so that memory is really taken, but not drawn."""

    def __init__(self, program):
        self._shapes = {parameter.name: parameter.shape for parameter in program.parameters}

    def initial(self, name):
        return np.full(self._shapes[name], 0.01, dtype=np.float32)

    def digest(self):
        return "blank"
