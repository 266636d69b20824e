"""Rows of integers: texts and trees. A file of NumPy's own format with one array for each input of a network."""

from collections import namedtuple
from zipfile import BadZipfile

import numpy as np

ROWS = ".npz"

# arrays: {name of an input: array (count, …) of integers}.
Rows = namedtuple("Rows", "path count arrays")


def open_rows(path):
    """All of a file in memory; what is wrong with it is a ValueError."""
    try:
        with np.load(path) as held:
            arrays = {name: held[name] for name in held.files}
    except (OSError, ValueError, EOFError, BadZipfile) as error:
        raise ValueError("'%s': expected arrays of integers, received %s" % (path, error))
    counts = {len(array) for array in arrays.values() if array.ndim}
    whole = all(array.ndim and array.dtype.kind in "iu" for array in arrays.values())
    if not whole or len(counts) != 1 or not min(counts):
        found = ", ".join(
            "%s %s %s" % (name, array.dtype, list(array.shape)) for name, array in sorted(arrays.items())
        )
        raise ValueError(
            "'%s': expected as many rows of integers in each array, received %s" % (path, found or "none")
        )
    return Rows(path, counts.pop(), arrays)
