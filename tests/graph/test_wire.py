"""Does a programme come back from JSON as it went, and does its digest change exactly when it does?"""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdyno.errors import NetdynoError
from netdyno.graph.check import check_programme
from netdyno.graph.model import Draw, Programme
from netdyno.graph.wire import digest, from_wire, identity, to_wire
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import Entry, entries, find_entry, resolve

LAYERS = {
    "convolution": lambda net, x: net.convolution(x, 4, 3, pad=1, groups=2),
    "no bias": lambda net, x: net.convolution(x, 2, (1, 3), pad=(0, 0, 1, 1), bias=False),
    "strided": lambda net, x: net.convolution(x, 2, 3, stride=2, pad=1),
    "batch norm": lambda net, x: net.batch_norm(x),
    "response norm": lambda net, x: net.local_response_norm(x, size=3),
    "max pool": lambda net, x: net.max_pool(x, 2, 2, ceil=True),
    "mean pool": lambda net, x: net.mean_pool(x, 2, 1, pad=(0, 1, 0, 1)),
    "relu": lambda net, x: net.relu(x),
    "tanh": lambda net, x: net.tanh(x),
    "sigmoid": lambda net, x: net.sigmoid(x),
    "dropout": lambda net, x: net.dropout(x, 0.25),
    "residual": lambda net, x: net.add(x, net.scale(x, 0.5)),
    "gate": lambda net, x: net.multiply(x, net.bernoulli(net.sigmoid(x))),
    "noise": lambda net, x: net.add(x, net.normal(x.shape, kind=x.kind)),
    "branches": lambda net, x: net.concat(x, net.stop_gradient(x)),
}


@st.composite
def programmes(draw: st.DrawFn) -> Programme:
    """A small random chain of layers that ends in a classifier."""
    net = Net(batch=draw(st.integers(1, 4)), classes=draw(st.integers(2, 5)), learning_rate=0.1)
    side = draw(st.integers(1, 9))
    x: Value = net.input("images", (net.batch, 2, side, side), Draw(kind="normal"), kind="image")
    for layer in draw(st.lists(st.sampled_from(sorted(LAYERS)), max_size=6)):
        x = LAYERS[layer](net, x)
    return net.programme(net.classifier(net.flatten(x)))


@settings(max_examples=60, deadline=None)
@given(programmes())
def test_any_chain_is_sound_and_comes_back_as_it_went(programme: Programme) -> None:
    check_programme(programme)
    back = from_wire(json.loads(json.dumps(to_wire(programme))))
    assert back == programme
    assert digest(back) == digest(programme)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.network}-{entry.dataset}")
def test_every_network_of_the_zoo_comes_back_as_it_went(entry: Entry) -> None:
    programme = resolve(entry, 2)
    assert from_wire(to_wire(programme)) == programme


def test_the_wire_form_holds_plain_json_only() -> None:
    wire = to_wire(resolve(find_entry("lenet"), 2))
    assert wire == json.loads(json.dumps(wire))
    assert wire["format"] == 2
    assert wire["graph"]["nodes"][0] == {
        "name": "conv1",
        "op": "convolution",
        "inputs": ["images", "conv1.weight", "conv1.bias"],
        "shape": [2, 6, 28, 28],
        "kind": "image",
        "attributes": {"strides": [1, 1], "padding": [2, 2, 2, 2], "groups": 1},
    }


def test_the_facts_of_the_ops_that_are_used_travel_with_them() -> None:
    facts = to_wire(resolve(find_entry("lenet"), 2))["facts"]
    assert sorted(facts) == ["convolution", "flatten", "linear", "mean_pool", "softmax_cross_entropy", "tanh"]
    assert facts["tanh"] == {
        "roles": ["x"],
        "weights": [],
        "state": [],
        "elementwise": True,
        "blocks_gradient": False,
        "random": False,
        "loss": False,
        "composite": False,
    }
    assert facts["convolution"]["weights"] == ["weight", "bias"]
    assert facts["softmax_cross_entropy"]["loss"]


def test_another_format_is_refused() -> None:
    wire = to_wire(resolve(find_entry("lenet"), 2))
    with pytest.raises(NetdynoError, match="expected format 2, received 1"):
        from_wire({**wire, "format": 1})
    with pytest.raises(NetdynoError, match="expected format 2, received None"):
        from_wire({})


def test_the_digest_changes_with_batch_learning_rate_and_names() -> None:
    entry = find_entry("lenet")
    programme = resolve(entry, 64)
    first = programme.graph.nodes[0]
    renamed = replace(programme.graph, nodes=(replace(first, name="c1"), *programme.graph.nodes[1:]))
    others = (
        resolve(entry, 32),
        resolve(replace(entry, learning_rate=0.02), 64),
        replace(programme, graph=renamed),
    )
    digests = {digest(programme), *(digest(other) for other in others)}
    assert len(digests) == 4


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.network}-{entry.dataset}")
def test_the_identity_does_not_depend_on_the_batch(entry: Entry) -> None:
    programme = resolve(entry, 2)
    assert identity(programme) == identity(resolve(entry, 7)) != digest(programme)


def test_the_identity_changes_with_everything_else() -> None:
    entry = find_entry("fcn5-small")
    programme = resolve(entry, 4)
    others = (
        resolve(entry, 4, {"hidden": 7}),
        resolve(replace(entry, learning_rate=0.02), 4),
        resolve(replace(entry, items=entry.items.of_width(12)), 4),
        replace(programme, graph=replace(programme.graph, outputs=("fc1",))),
    )
    assert len({identity(programme), *(identity(other) for other in others)}) == 5


def test_noise_of_one_row_per_item_is_the_same_at_any_batch() -> None:
    def noisy(batch: int) -> Programme:
        net = Net(batch=batch, classes=3, learning_rate=0.1)
        return net.programme(net.classifier(net.add(net.vectors(5), net.normal((batch, 5)))))

    assert identity(noisy(2)) == identity(noisy(9))


@pytest.mark.parametrize("tokens", [2, 3])  # as many as a batch has, or not
def test_the_identity_does_not_depend_on_where_the_batch_is(tokens: int) -> None:
    def turned(batch: int) -> Programme:
        net = Net(batch=batch, classes=3, learning_rate=0.1)
        x = net.input("x", (batch, tokens, 5), Draw(kind="normal"), kind="sequence")
        x = net.node("transpose", x, axes=(1, 0, 2), kind="sequence")
        rows = net.linear(net.node("reshape", x, shape=(-1, 5), kind="plain"), 4)
        rows = net.node("reshape", rows, shape=(tokens, -1, 4), kind="sequence")
        return net.programme(net.classifier(net.node("reduce_sum", rows, axes=(0,), keep=False)))

    assert identity(turned(2)) == identity(turned(9))


def test_the_digest_of_lenet_stays_what_it_was() -> None:
    """Stored records point at networks by digest: if this changes, LeNet is another network than before."""
    assert digest(resolve(find_entry("lenet"), 64)) == "53981b1fc30f3ddd"
