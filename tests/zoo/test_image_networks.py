"""Are the later networks of images as their papers draw them: sizes counted by hand, shapes, options?"""

from math import prod

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.cost import totals
from netdyno.graph.model import Draw, Graph, Optimizer
from netdyno.zoo.catalog import find_entry, resolve
from netdyno.zoo.entry import reduced


def graph_of(network: str, dataset: str | None = None, **options: float) -> Graph:
    return resolve(find_entry(network, dataset), 2, options).graph


def sizes(network: str, dataset: str | None = None, **options: float) -> tuple[int, int]:
    """Parameters, and MACs of one item."""
    found = totals(resolve(find_entry(network, dataset), 1, options))
    return found.parameters, found.macs


def counted(*layers: tuple[int, int, int, int]) -> tuple[int, int]:
    """By hand: of layers with biases, each (inputs, outputs, elements of the kernel, places it is applied to)."""
    parameters = sum(inputs * outputs * kernel + outputs for inputs, outputs, kernel, _ in layers)
    return parameters, sum(prod(layer) for layer in layers)


@pytest.mark.parametrize(
    ("dataset", "channels", "sides"), [("cifar10", 3, (32, 16, 8, 6)), ("mnist", 1, (28, 14, 7, 5))]
)
@pytest.mark.parametrize("width", [1.0, 0.5])
def test_the_plain_convolutions_are_counted(
    dataset: str, channels: int, sides: tuple[int, int, int, int], width: float
) -> None:
    (a, b, c, d), few, many = (side**2 for side in sides), int(96 * width), int(192 * width)
    first = [(channels, few, 9, a), (few, few, 9, a), (few, few, 9, b)]
    second = [(few, many, 9, b), (many, many, 9, b), (many, many, 9, c)]
    last = [(many, many, 9, d), (many, many, 1, d), (many, 10, 1, d)]
    assert sizes("dcn", dataset, width=width) == counted(*first, *second, *last)


@pytest.mark.parametrize("width", [1.0, 0.25])
def test_the_generator_is_counted(width: float) -> None:
    """A transposed convolution is applied at every place of its input."""
    stream, both, first, second, third = (int(units * width) for units in (512, 1024, 256, 128, 64))
    linear = [(10, stream, 1, 1), (16, stream, 1, 1), (2 * stream, both, 1, 1), (both, 16 * first, 1, 1)]
    growing = [(first, second, 9, 4**2), (second, third, 16, 7**2), (third, 1, 16, 14**2)]
    assert sizes("deconv", width=width) == counted(*linear, *growing)


def test_unet_is_counted() -> None:
    down, up = {64: 572, 128: 284, 256: 140, 512: 68, 1024: 32}, {512: 28, 256: 52, 128: 100, 64: 196}
    layers = [(64, 2, 1, 388**2)]
    for channels, side in down.items():
        before = 1 if channels == 64 else channels // 2
        layers += [(before, channels, 9, (side - 2) ** 2), (channels, channels, 9, (side - 4) ** 2)]
    for channels, side in up.items():
        layers += [(2 * channels, channels, 4, side**2), (2 * channels, channels, 9, (2 * side - 2) ** 2)]
        layers += [(channels, channels, 9, (2 * side - 4) ** 2)]
    assert sizes("unet") == counted(*layers)


def test_the_generator_grows_from_a_vector_to_the_image_it_is_compared_with() -> None:
    graph = graph_of("deconv")
    maps = [node.shape[1:] for node in graph.nodes if node.kind == "image"]
    assert list(dict.fromkeys(maps)) == [(256, 4, 4), (128, 7, 7), (64, 14, 14), (1, 28, 28)]
    assert graph.nodes[-1].inputs == (*graph.outputs, "images")
    assert graph.inputs[0].draw == Draw(kind="uniform", low=0.0, high=1.0)


def test_unet_has_the_shapes_of_its_figure() -> None:
    shapes = graph_of("unet").shapes()
    down = [shapes[f"{scope}.relu2"][1:] for scope in ("down1", "down2", "down3", "down4", "bottom")]
    assert down == [(64, 568, 568), (128, 280, 280), (256, 136, 136), (512, 64, 64), (1024, 28, 28)]
    up = [shapes[f"up{level}.relu2"][1:] for level in (4, 3, 2, 1)]
    assert up == [(512, 52, 52), (256, 100, 100), (128, 196, 196), (64, 388, 388)]
    assert shapes["classes"] == (2, 2, 388, 388)


def test_unet_crops_the_middle() -> None:
    cuts = [node.attributes for node in graph_of("unet").nodes if node.name in ("up4.slice1", "up1.slice2")]
    assert cuts == [{"axis": 2, "start": 4, "stop": 60}, {"axis": 3, "start": 88, "stop": 480}]


def test_unet_has_a_label_and_a_row_of_logits_for_each_pixel() -> None:
    programme = resolve(find_entry("unet"), 3)
    labels = programme.graph.inputs[1]
    assert (labels.shape, labels.dtype, labels.draw.high) == ((3, 388, 388), "integer", 2.0)
    assert programme.graph.shapes()[programme.graph.outputs[0]] == (3 * 388**2, 2)
    assert programme.updates()[0].optimizer == Optimizer(kind="momentum", learning_rate=0.001, momentum=0.99)


def test_the_smaller_unet_still_crops_and_labels_several_pixels() -> None:
    graph = resolve(reduced(find_entry("unet")), 2).graph
    shapes = graph.shapes()
    assert shapes["labels"] == (2, 4, 4)
    assert all(shapes[node.inputs[0]] != node.shape for node in graph.nodes if node.op == "slice")


def test_shapes_along_inception_v3_are_those_of_the_paper() -> None:
    shapes = graph_of("inception-v3").shapes()
    assert shapes["conv1"][1:] == (32, 149, 149)
    assert shapes["max_pool1"][1:] == (64, 73, 73)
    assert shapes["max_pool2"][1:] == (192, 35, 35)
    last = [shapes[f"{module}.concat1"][1:] for module in ("square3", "reduction1", "factorised4", "reduction2")]
    assert last == [(288, 35, 35), (768, 17, 17), (768, 17, 17), (1280, 8, 8)]
    assert shapes["expanded2.concat1"][1:] == (2048, 8, 8)


@pytest.mark.parametrize(
    ("network", "blocks", "widest"), [("resnet18", 8, 512), ("resnet34", 16, 512), ("resnet152", 50, 2048)]
)
def test_residual_networks_have_the_blocks_of_the_paper(network: str, blocks: int, widest: int) -> None:
    graph = graph_of(network)
    added = [node for node in graph.nodes if node.op == "add"]
    layers = [node for node in graph.nodes if node.op in ("convolution", "linear") and "projection" not in node.name]
    assert (len(added), added[-1].shape[1:]) == (blocks, (widest, 7, 7))
    assert len(layers) == int(network.removeprefix("resnet"))


@pytest.mark.parametrize("network", ["dcn", "deconv", "unet"])
def test_a_width_that_leaves_no_channels_is_refused(network: str) -> None:
    with pytest.raises(NetdynoError, match="weight': expected a shape of whole numbers over 0"):
        graph_of(network, width=1e-4)
