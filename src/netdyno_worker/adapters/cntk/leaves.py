"""What a CNTK graph starts from: variables that are fed and parameters that are kept, shared by all its functions.

How CNTK lays out a value with a batch is in batches.py. A parameter has no batch.
"""

import cntk
import numpy as np

from netdyno_worker.adapters.cntk.batches import Batches, batch_of
from netdyno_worker.adapters.kit.precision import kept_type
from netdyno_worker.program import shapes

# Of a layer's parameters by place, where CNTK wants another form than the graph's.
FORMS = {("linear", 1): "matrix", ("convolution", 2): "map", ("transposed_convolution", 2): "map"}


class Leaves(object):
    """Inputs and parameters by name, in the forms in which CNTK wants them.

    A parameter's form is its first user's: "matrix" is transposed, "map" has two more axes, "plain" is the graph's.
    """

    def __init__(self, job):
        self.program = job.program
        self.dtype = kept_type(job).type
        self._shapes = shapes(job.program)
        self.batches = Batches(batch_of(job.program))
        self.forms = parameter_forms(job.program)
        self.parameters = {p.name: self._parameter(p, job.initial(p.name)) for p in job.program.parameters}
        self._variables = {}
        self._fillers = {}

    def is_parameter(self, name):
        return name in self.parameters

    def parameter(self, name, form):
        """As a value without batch in the wanted form."""
        return reformed(self.parameters[name], self.forms[name], form)

    def zeros(self, shape):
        """Of that shape for each sample."""
        return self._variable(("zeros",) + shape, shape, lambda batch: np.zeros((self.batches.size,) + shape))

    def data(self, name):
        shape = self.batches.inner(self._shapes[name])
        return self._variable((name,), shape, lambda batch: self._samples(batch[name]))

    def one_hot(self, name, classes):
        """Class numbers as CNTK's losses want them."""
        shape = self.batches.inner(self._shapes[name] + (classes,))
        return self._variable((name, classes), shape, lambda batch: self._samples(np.eye(classes)[batch[name]]))

    def placed(self, batch, device):
        """{uid of a variable: its values on the device}."""
        found = {}
        for key, variable in self._variables.items():
            array = np.ascontiguousarray(self._fillers[key](batch), dtype=self.dtype)
            found[variable.uid] = cntk.Value.create(variable, array, device=device)
        return found

    def array(self, name, value):
        """A value in the parameter's form as a copy in the graph's shape."""
        return np.array(value.T if self.forms[name] == "matrix" else value, order="C").reshape(self._shapes[name])

    def _parameter(self, parameter, initial):
        array = np.ascontiguousarray(_formed(initial, self.forms[parameter.name]), dtype=self.dtype)
        return cntk.parameter(init=array, dtype=self.dtype) if parameter.trainable else cntk.constant(array)

    def _samples(self, array):
        """Of values (batch · k, …), each sample has k."""
        return np.reshape(array, (self.batches.size,) + self.batches.inner(array.shape))

    def _variable(self, key, shape, filler):
        if key not in self._variables:
            self._variables[key] = cntk.input_variable(shape, self.dtype)
            self._fillers[key] = filler
        return self._variables[key]


def parameter_forms(program):
    """{parameter name: form}, as its first user wants it."""
    forms = {}
    for node in program.nodes:
        for place, name in enumerate(node.inputs):
            forms.setdefault(name, wanted_form(node.op, place))
    return {p.name: forms.get(p.name, "plain") for p in program.parameters}


def wanted_form(op, place):
    return FORMS.get((op, place), "plain")


def _formed(array, form):
    if form == "matrix":
        return array.T
    return array.reshape(-1, 1, 1) if form == "map" else array


def reformed(parameter, have, want):
    if have == want:
        return parameter
    if have == "plain":
        plain = parameter
    else:
        plain = cntk.transpose(parameter, (1, 0)) if have == "matrix" else cntk.reshape(parameter, (-1,))
    if want == "plain":
        return plain
    return cntk.transpose(plain, (1, 0)) if want == "matrix" else cntk.reshape(plain, (-1, 1, 1))
