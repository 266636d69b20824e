"""What MXNet computes otherwise than the graph means, or wrongly, if it is asked the plain way.

Its batch norm moves running statistics in the backward pass only; in version 1.2 some ops of MKL-DNN have wrong
gradients, in shapes that the small programs of the generic parity test do not have.
"""

import pytest
from small_programs import MOMENTUM, Sketch

from netdyno.frameworks.spec import find_spec
from netdyno.graph.wire import from_wire
from netdyno.workloads.references import SIZES, ProofCase
from tests.parity.conftest import candidate_for

TOLERANCE = 2e-5
EDGE = {"strides": [1, 1], "padding": [0, 0, 0, 0], "groups": 1}


def _behind_a_stop():
    """No gradient reaches the batch norm, and still its statistics must move."""
    sketch = Sketch()
    sketch.input("x", [6, 3], -1.0, 3.0)
    sketch.input("target", [6, 2])
    sketch.node("norm", "batch_norm", ["x", *sketch.state("norm", 3)], [6, 3], epsilon=1e-3, momentum=0.1)
    sketch.node("fixed", "stop_gradient", ["norm"], [6, 3])
    sketch.parameter("head.weight", [2, 3])
    sketch.node("y", "linear", ["fixed", "head.weight"], [6, 2])
    sketch.node("loss", "mean_squared_error", ["y", "target"], [])
    sketch.update("loss", MOMENTUM, ["head.weight"])
    return sketch.wire("y")


def _branches():
    """24 channels beside 64, batch norm, response norm, a pool over the edge: each has a wrong gradient in 1.2."""
    sketch = Sketch()
    sketch.input("image", [2, 16, 32, 32])
    sketch.input("labels", [2], 0, 5, "integers")
    for name, channels in (("narrow", 24), ("wide", 64)):
        weight = sketch.parameter(f"{name}.weight", [channels, 16, 1, 1], -0.4, 0.4)
        shape = [2, channels, 32, 32]
        sketch.node(name, "convolution", ["image", weight], shape, **EDGE)
        norm = [name, *sketch.state(f"{name}.norm", channels)]
        sketch.node(f"{name}.norm", "batch_norm", norm, shape, epsilon=1e-3, momentum=0.1)
        sketch.node(f"{name}.tanh", "tanh", [f"{name}.norm"], shape)
    response = {"size": 5, "alpha": 1.0, "beta": 0.75, "k": 1.0}
    sketch.node("wide.response", "local_response_norm", ["wide.tanh"], [2, 64, 32, 32], **response)
    sketch.node("both", "concat", ["narrow.tanh", "wide.response"], [2, 88, 32, 32])
    window = {"kernel": [3, 3], "strides": [2, 2], "padding": [0, 1, 0, 1]}
    sketch.node("pooled", "max_pool", ["both"], [2, 88, 16, 16], **window)
    sketch.node("mean", "global_mean_pool", ["pooled"], [2, 88])
    sketch.parameter("head.weight", [5, 88])
    sketch.node("y", "linear", ["mean", "head.weight"], [2, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y")


def _dense(layers, growth):
    """Every layer takes all before it: a value has many uses, as a part of concats and under a batch norm."""
    sketch = Sketch()
    sketch.input("image", [2, 3, 8, 8])
    sketch.input("labels", [2], 0, 5, "integers")
    stem, shape = sketch.parameter("stem.weight", [growth, 3, 3, 3], -0.3, 0.3), [2, growth, 8, 8]
    sketch.node("stem", "convolution", ["image", stem], shape, **dict(EDGE, padding=[1, 1, 1, 1]))
    values = ["stem"]
    for number in range(layers):
        name, channels = f"layer{number}", growth * len(values)
        joined = sketch.node(f"{name}.all", "concat", values, [2, channels, 8, 8]) if number else "stem"
        norm = [joined, *sketch.state(f"{name}.norm", channels)]
        sketch.node(f"{name}.norm", "batch_norm", norm, [2, channels, 8, 8], epsilon=1e-3, momentum=0.1)
        sketch.node(f"{name}.relu", "relu", [f"{name}.norm"], [2, channels, 8, 8])
        weight = sketch.parameter(f"{name}.weight", [growth, channels, 1, 1], -0.2, 0.2)
        values.append(sketch.node(name, "convolution", [f"{name}.relu", weight], shape, **EDGE))
    features = growth * len(values)
    sketch.node("both", "concat", values, [2, features, 8, 8])
    sketch.node("mean", "global_mean_pool", ["both"], [2, features])
    sketch.parameter("head.weight", [5, features])
    sketch.node("y", "linear", ["mean", "head.weight"], [2, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y")


def _computed(prover, folder, wires):
    cases = [
        ProofCase(name=name, programme=from_wire(wire), arrays=folder / f"{number}.npz")
        for number, (name, wire) in enumerate(wires.items())
    ]
    prover.compute(cases, SIZES)
    return cases


@pytest.fixture(scope="module")
def odd_cases(prover, tmp_path_factory):
    wires = {"behind a stop": _behind_a_stop(), "branches": _branches()}
    return _computed(prover, tmp_path_factory.mktemp("mxnet"), wires)


@pytest.mark.parametrize("name", ["mxnet-1.2", "mxnet-1.9"])
def test_mxnet_computes_what_the_graph_means_where_its_own_way_differs(prover, odd_cases, name):
    proofs = prover.prove(odd_cases, candidate_for(find_spec(name), "compiled"))
    assert [proof.passed for proof in proofs] == [True, True], [(proof.reason, proof.worst) for proof in proofs]


def test_mxnet_adds_up_the_gradients_of_a_value_with_many_uses(prover, tmp_path):
    wires = {"whole blocks": _dense(layers=4, growth=16), "ten uses": _dense(layers=9, growth=12)}
    proofs = prover.prove(_computed(prover, tmp_path, wires), candidate_for(find_spec("mxnet-1.2"), "compiled"))
    assert [proof.passed for proof in proofs] == [True, True], [(proof.reason, proof.worst) for proof in proofs]
