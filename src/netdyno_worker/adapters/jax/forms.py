"""In which order values are kept in memory for XLA: images NHWC, kernels HWIO, matrices (in, out)."""

import numpy as np

# A form is the order of a value's axes in memory, given as positions in the graph's order. A value's form is named
# as its kind, except for the weight of a linear layer; one that is not here lies as in the graph.
FORMS = {"kernel": (2, 3, 1, 0), "image": (0, 2, 3, 1), "matrix": (1, 0)}


def reform(value, have, want):
    """Reorder axes."""
    return value if have == want else to_form(from_form(value, have), want)


def to_form(value, form):
    return value.transpose(FORMS[form]) if form in FORMS else value


def from_form(value, form):
    return value.transpose(tuple(int(a) for a in np.argsort(FORMS[form]))) if form in FORMS else value


def axis_in(form, axis):
    """Where a value of that form has one of the graph's axes."""
    return FORMS[form].index(axis) if form in FORMS else axis
