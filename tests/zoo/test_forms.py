"""How nodes go from layer to layer in the networks that have forms: as they say, at about the same cost."""

from itertools import pairwise
from math import prod

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.cost import totals
from netdyno.graph.wire import digest
from netdyno.zoo.catalog import find_entry, resolve

SHRINKING, CONSTANT, GROWING = "shrinking", "constant", "growing"
CASES = [("dcn", "mnist"), ("dcn", "cifar10"), ("deconv", "mnist")]


def _programme(network, dataset, **options):
    return resolve(find_entry(network, dataset), 2, options)


def _nodes(network, form):
    """Of the last layer of each part: strided layers still have the channels of the part before."""
    graph = _programme(network, "mnist", form=form).graph
    shapes, kinds = graph.shapes(), ("convolution", "transposed_convolution", "reshape")
    last = {shapes[node.name][2]: shapes[node.name][1:] for node in graph.nodes if node.op in kinds}
    hidden = [shape for shape in last.values() if shape[0] not in (1, 10)]
    return [prod(shape) for shape in hidden if shape[1] != 7 or network == "deconv"]


@pytest.mark.parametrize("network", ["dcn", "deconv"])
def test_nodes_shrink_and_grow_as_the_form_says(network):
    assert all(before > after for before, after in pairwise(_nodes(network, SHRINKING)))
    assert all(before < after for before, after in pairwise(_nodes(network, GROWING)))


@pytest.mark.parametrize(("network", "dataset"), CASES)
@pytest.mark.parametrize("width", [1.0, 0.5, 0.25])
def test_forms_cost_about_the_same(network, dataset, width):
    macs = [
        totals(_programme(network, dataset, form=form, width=width)).macs for form in (SHRINKING, CONSTANT, GROWING)
    ]
    assert max(macs) < 1.04 * min(macs)


@pytest.mark.parametrize(
    ("network", "dataset", "usual"), [(*case, GROWING if case[0] == "deconv" else SHRINKING) for case in CASES]
)
def test_the_usual_form_is_the_published_one(network, dataset, usual):
    assert digest(_programme(network, dataset)) == digest(_programme(network, dataset, form=usual))


def test_a_form_that_there_is_not_is_refused():
    with pytest.raises(NetdynoError, match=r"no form of dcn named 'shrinkng'.*Did you mean 'shrinking'"):
        _programme("dcn", "mnist", form="shrinkng")
