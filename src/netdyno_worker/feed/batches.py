"""Synthetic batches by name and seed."""

import numpy as np

from netdyno_worker.feed.draws import draw


def synthetic_batch(program, seed):
    """{input name: array} for one step; their names are prefixed so that data and weights never share a stream."""
    return {i.name: draw(i.draw, "input/" + i.name, i.shape, seed) for i in program.inputs}


def blank_batch(program):
    """The same in shape and type, in a fraction of the time: for trials whose results nobody reads."""
    kinds = {i.name: np.int32 if i.dtype == "integer" else np.float32 for i in program.inputs}
    return {i.name: np.full(i.shape, i.draw["low"], kinds[i.name]) for i in program.inputs}
