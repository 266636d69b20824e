"""Synthetic batches by name and seed."""

from netdyno_worker.draws import draw


def synthetic_batch(program, seed):
    """{input name: array} for one step; their names are prefixed so that data and weights never share a stream."""
    return {i.name: draw(i.draw, "input/" + i.name, i.shape, seed) for i in program.inputs}
