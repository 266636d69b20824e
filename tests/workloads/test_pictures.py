"""Is a network asked for pictures where it makes some, and only there, and are its logits known for what they are?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netdyno.graph.check import check_programme
from netdyno.graph.model import Draw, Programme
from netdyno.graph.wire import from_wire
from netdyno.protocol.request import PicturesPlan
from netdyno.runtime.worker import Worker
from netdyno.workloads.pictures import pictures_plan
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import find_entry, resolve

WORKER = Worker(python=Path("python"), archive=Path("worker-abc.pyz"), adapter="reference")
BATCH = 4


def _of_the_zoo(network: str, dataset: str | None = None, **options: Any) -> PicturesPlan | None:
    return pictures_plan(resolve(find_entry(network, dataset), BATCH, options=options), WORKER)


def _own(build: Any, shape: tuple[int, ...] = (BATCH, 1, 6, 6)) -> Programme:
    net = Net(batch=BATCH, classes=3, learning_rate=0.1)
    images = net.input("images", shape, Draw(kind="normal"), kind="image")
    return net.programme(build(net, images))


def _learnt(net: Net, made: Value, target: Value) -> Value:
    net.update(net.mean_squared_error(made, target, name="loss"))
    return made


def _coded(net: Net, pixels: Value) -> Value:
    """Its output is smaller than the images that it learns to say again."""
    code = net.linear(pixels, 5, name="code")
    _learnt(net, net.linear(code, pixels.shape[1], name="again"), pixels)
    return code


@pytest.mark.parametrize(
    ("network", "dataset", "logits", "sees_images"),
    [
        ("vae", "mnist", True, True),
        ("autoencoder", "mnist", True, True),
        ("rbm", "mnist", False, True),
        ("gan", "mnist", False, False),
        ("dcgan", "mnist", False, False),
        ("dcgan", "faces64", False, False),
        ("deconv", "mnist", False, False),
    ],
)
def test_networks_that_make_images_are_asked_for_them(
    network: str, dataset: str, logits: bool, sees_images: bool
) -> None:
    plan = _of_the_zoo(network, dataset)
    assert plan is not None
    assert (plan.logits, plan.sees_images, plan.count) == (logits, sees_images, BATCH)


@pytest.mark.parametrize("network", ["gpt2", "recursive"])
def test_networks_of_other_things_than_images_are_not(network: str) -> None:
    assert _of_the_zoo(network) is None


def test_the_graph_that_draws_has_one_output_and_nothing_that_it_does_not_need() -> None:
    plan = _of_the_zoo("gan", "mnist")
    assert plan is not None
    programme = from_wire(plan.programme)
    check_programme(programme)
    assert len(programme.graph.outputs) == 1
    assert len(programme.updates()) == 1
    whole = resolve(find_entry("gan", "mnist"), BATCH).graph
    assert programme.graph.outputs[0] == whole.outputs[0]
    assert len(programme.graph.nodes) < len(whole.nodes)


def test_a_network_of_ones_own_is_known_by_the_size_of_its_output() -> None:
    same = _own(lambda net, x: _learnt(net, net.convolution(x, 1, 3, pad=1), x))
    code = _own(lambda net, x: _coded(net, net.flatten(x)))
    assert pictures_plan(same, WORKER) is not None
    assert pictures_plan(code, WORKER) is None


def test_images_of_four_channels_cannot_be_shown() -> None:
    four = _own(lambda net, x: _learnt(net, net.convolution(x, 4, 3, pad=1), x), (BATCH, 4, 6, 6))
    assert pictures_plan(four, WORKER) is None


def test_logits_are_known_in_another_shape_too() -> None:
    def drawn(net: Net, images: Value) -> Value:
        pixels = net.flatten(images)
        again = net.linear(pixels, pixels.shape[1], name="again")
        net.update(net.binary_cross_entropy(again, pixels, name="loss"))
        return net.reshape(again, (-1, 1, 6, 6), kind="image")

    plan = pictures_plan(_own(drawn), WORKER)
    assert plan is not None
    assert plan.logits


def test_no_more_pictures_are_asked_for_than_a_record_holds() -> None:
    plan = pictures_plan(resolve(find_entry("vae", "mnist"), 128), WORKER)
    assert plan is not None
    assert plan.count == 24


def test_a_network_without_outputs_makes_none() -> None:
    programme = resolve(find_entry("vae", "mnist"), BATCH)
    assert pictures_plan(replace(programme, graph=replace(programme.graph, outputs=())), WORKER) is None
