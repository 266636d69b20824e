"""Is the zoo what it says it is: the published counts, the thesis's settings, names that are found?"""

from dataclasses import replace
from math import prod, sqrt

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.cost import totals
from netdyno.graph.model import Optimizer
from netdyno.zoo.catalog import Entry, entries, find_entry, find_network, resolve
from netdyno.zoo.entry import CNN, INSTRUMENT, MLP, reduced
from netdyno.zoo.items import IMAGENET, all_items, find_items
from netdyno.zoo.options import Option

PUBLISHED = {  # parameters, then MACs of one image as far as they are published (unit, figures)
    ("lenet", "mnist"): (61_706, 416_520),
    ("alexnet", "cifar10"): (2_472_266, None),
    ("resnet50", "cifar10"): (23_520_842, None),
    ("googlenet", "cifar10"): (6_166_250, None),
    ("vgg16", "cifar10"): (15_253_578, 313.73e6),
    ("alexnet", "imagenet"): (60_965_224, 724e6),
    ("resnet50", "imagenet"): (25_557_032, 4.09e9),
    ("googlenet", "imagenet"): (6_998_552, 1.58e9),
    ("vgg16", "imagenet"): (138_357_544, 15.47e9),
    ("alexnet-owt", "imagenet"): (61_100_840, 0.714e9),
    ("googlenet-bn", "imagenet"): (6_624_904, 1.50e9),
    ("resnet18", "imagenet"): (11_689_512, 1.814e9),
    ("resnet34", "imagenet"): (21_797_672, 3.664e9),
    ("resnet152", "imagenet"): (60_192_808, 11.514e9),
    ("inception-v3", "imagenet"): (23_834_568, 5.713e9),
    ("efficientnet-b0", "imagenet"): (5_288_548, 0.386e9),
    ("dcn", "cifar10"): (1_369_738, None),
    ("dcn", "mnist"): (1_369_738 - 2 * 9 * 96, None),  # one channel in place of three
}
COUNTED = {  # by hand, or parameters as published
    ("deconv", "mnist"): 5_689_537,
    ("unet", "tiles572"): 31_030_658,
    ("vit-b16", "imagenet"): 86_567_656,
    ("mlp-mixer-b16", "imagenet"): 59_880_472,
    ("gpt2", "text"): 124_439_808,
    ("bert-base", "text"): 109_482_240 + 2 * 768 + 2,
    ("rnn", "text"): 10_000 * (256 + 257) + 2 * (512 * 256 + 2 * 256),
    ("lstm", "text"): 10_000 * (256 + 257) + 2 * 4 * (512 * 256 + 2 * 256),
    ("gru", "text"): 10_000 * (256 + 257) + 2 * 3 * (512 * 256 + 2 * 256),
    ("recursive", "trees"): 14 * 128 + 4 * 128 + 257 * 256 + 257 * 128 + 10 * 129,
    ("vae", "mnist"): 652_824,
    ("gan", "mnist"): (101 + 257) * 256 + 257 * 784 + (785 + 257) * 256 + 257,
    ("dcgan", "faces64"): 3_576_704 + 2_765_568,
    ("dcgan", "mnist"): 6272 * 100 + 128 * 1024 + 1024 + 2 * 192 + 1024 + 128 * 1024 + 2 * 128 + 6272,
    ("ffn", "mnist"): 785 * 512 + 513 * 10,
    ("autoencoder", "mnist"): 785 * 256 + 257 * 784,
    ("rbm", "mnist"): 784 * 500 + 784 + 500,
    ("dbn", "mnist"): 785 * 500 + 501 * 500 + 501 * 2000 + 2001 * 10,
    ("fcn5", "vectors26752"): 2 * 26752 * 2048 + 2 * 2048**2 + 3 * 2048 + 26752,
    ("fcn8", "vectors26752"): 2 * 26752 * 2048 + 5 * 2048**2 + 6 * 2048 + 26752,
    ("fcn5-small", "vectors512"): 512 * 2048 + 2 * 2048**2 + 2048 * 1000 + 3 * 2048 + 1000,
    ("matmul", "none"): 8 * 4096**2 + 4096 * 16 + 16,
}
THESIS = {  # batch, learning rate
    ("lenet", "mnist"): (64, 0.01),
    ("alexnet", "cifar10"): (128, 0.01),
    ("resnet50", "cifar10"): (128, 0.1),
    ("googlenet", "cifar10"): (128, 0.1),
    ("vgg16", "cifar10"): (128, 0.01),
    ("alexnet", "imagenet"): (128, 0.01),
    ("resnet50", "imagenet"): (8, 0.1),
}
every_entry = pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.network}-{entry.dataset}")


def test_the_zoo_holds_the_nine_cases_and_later_networks_of_images_before_the_vectors() -> None:
    names = [(entry.network, entry.dataset) for entry in entries()]
    assert names == [*PUBLISHED, *COUNTED]
    assert list(THESIS) == names[: len(THESIS)]


def test_a_family_is_asked_for_by_name() -> None:
    assert [entry.network for entry in entries(MLP)] == ["fcn5", "fcn8", "fcn5-small"]
    assert [entry.network for entry in entries(INSTRUMENT)] == ["matmul"]
    assert [(entry.network, entry.dataset) for entry in entries(CNN)] == list(PUBLISHED)


@every_entry
def test_counts_are_the_published_ones_or_those_counted_by_hand(entry: Entry) -> None:
    case = (entry.network, entry.dataset)
    parameters, macs = PUBLISHED[case] if case in PUBLISHED else (COUNTED[case], None)
    counted = totals(resolve(entry, 3))
    assert counted.parameters == entry.parameters == parameters
    assert counted.macs == 3 * entry.macs
    assert macs is None or entry.macs == pytest.approx(macs, rel=2e-3)


@every_entry
def test_macs_of_an_image_do_not_depend_on_the_batch(entry: Entry) -> None:
    assert totals(resolve(entry, 1)).macs == entry.macs


@every_entry
def test_a_proof_takes_every_layer_and_few_enough_parameters(entry: Entry) -> None:
    full, small = resolve(entry, 2), resolve(reduced(entry), 2)
    assert [node.op for node in small.graph.nodes] == [node.op for node in full.graph.nodes]
    assert all(small.graph.shapes()[update.loss] == () for update in small.updates())
    assert totals(small).macs <= totals(full).macs
    assert totals(small).parameters < 60e6


@every_entry
def test_no_map_of_a_smaller_form_is_a_point_where_it_is_flattened_or_averaged(entry: Entry) -> None:
    full, small = resolve(entry, 2).graph, resolve(reduced(entry), 2).graph
    shapes, whole = small.shapes(), full.shapes()
    read = {name for node in full.nodes if node.op in ("flatten", "mean_pool") for name in node.inputs}
    large = [name for name in read if len(whole[name]) == 4 and whole[name][2:] != (1, 1)]
    assert all(shapes[name][2:] != (1, 1) for name in large)


def test_a_proof_shortens_the_vectors_and_the_labels_of_the_widest_networks() -> None:
    small = resolve(reduced(find_entry("fcn5")), 2).graph
    assert small.inputs[0].shape == (2, 256)
    assert small.shapes()[small.outputs[0]] == (2, 256)
    assert small.shapes()["fc2.weight"] == (2048, 2048)


def test_an_entry_without_a_width_of_its_own_is_proved_on_its_dataset() -> None:
    assert reduced(find_entry("fcn5-small")) == find_entry("fcn5-small")
    assert reduced(find_entry("resnet50", "imagenet")).items == IMAGENET.of_size(64)


@pytest.mark.parametrize("entry", entries(CNN), ids=lambda entry: f"{entry.network}-{entry.dataset}")
def test_image_networks_train_everything_they_can_with_momentum(entry: Entry) -> None:
    programme = resolve(entry, 2)
    (update,) = programme.updates()
    assert (update.name, update.loss) == ("train", "loss")
    assert update.parameters == tuple(p.name for p in programme.graph.parameters if p.trainable)
    assert update.optimizer == Optimizer(kind="momentum", learning_rate=entry.learning_rate, momentum=0.9)
    assert programme.graph.shapes()[programme.graph.outputs[0]] == (2, entry.items.classes)


@pytest.mark.parametrize("entry", entries(MLP), ids=lambda entry: entry.network)
def test_fully_connected_networks_train_by_plain_sgd_as_dlbench_did(entry: Entry) -> None:
    programme = resolve(entry, 2)
    (update,) = programme.updates()
    assert update.optimizer == Optimizer(kind="sgd", learning_rate=0.01)
    assert update.parameters == tuple(parameter.name for parameter in programme.graph.parameters)
    ops = [node.op for node in programme.graph.nodes]
    assert ops.count("sigmoid") == ops.count("linear") - 1 == (6 if entry.network == "fcn8" else 3)


@pytest.mark.parametrize(("width", "batch"), [(4096, 16384), (1024, 1024)])
def test_nearly_all_of_the_instrument_is_matrix_products(width: int, batch: int) -> None:
    programme = resolve(find_entry("matmul"), batch, {"width": width})
    assert [drawn.shape for drawn in programme.graph.inputs] == [(batch, width), (batch,)]
    assert programme.graph.parameter_count() == 8 * width**2 + width * 16 + 16
    products = 8 * 3 - 1  # forward, and two backward but for the input of the first
    assert 2 * products * batch * width**2 == pytest.approx(totals(programme).step_flops, rel=0.01)


@every_entry
def test_every_entry_says_where_it_comes_from(entry: Entry) -> None:
    assert len(entry.source) > 20


@pytest.mark.parametrize("case", THESIS, ids="-".join)
def test_batch_and_learning_rate_are_those_of_the_thesis(case: tuple[str, str]) -> None:
    entry = find_entry(*case)
    assert (entry.batch, entry.learning_rate) == THESIS[case]


@pytest.mark.parametrize(("network", "ours", "theirs"), [("googlenet", 0.01, 0.1), ("vgg16", 0.001, 0.01)])
def test_a_learning_rate_other_than_the_thesis_has_a_note(network: str, ours: float, theirs: float) -> None:
    entry = find_entry(network, "imagenet")
    assert (entry.batch, entry.learning_rate) == (8, ours)
    assert f"not the thesis's {theirs}" in entry.note


def test_alexnet_takes_larger_crops_than_its_dataset() -> None:
    entry = find_entry("alexnet", "imagenet")
    assert (entry.items.shape, find_items("imagenet").shape) == ((3, 227, 227), (3, 224, 224))
    assert resolve(entry, 1).graph.inputs[0].shape == (1, 3, 227, 227)


def test_shapes_along_resnet50_are_those_of_the_paper() -> None:
    shapes = resolve(find_entry("resnet50", "imagenet"), 1).graph.shapes()
    last = [f"stage{stage}.block{block}.relu3" for stage, block in ((1, 3), (2, 4), (3, 6), (4, 3))]
    assert [shapes[name][1:] for name in last] == [(256, 56, 56), (512, 28, 28), (1024, 14, 14), (2048, 7, 7)]


def test_shapes_along_googlenet_are_those_of_the_paper() -> None:
    shapes = resolve(find_entry("googlenet", "imagenet"), 1).graph.shapes()
    assert shapes["max_pool1"] == (1, 64, 56, 56)
    assert shapes["inception3a.output"] == (1, 256, 28, 28)
    assert shapes["inception4e.output"] == (1, 832, 14, 14)
    assert shapes["inception5b.output"] == (1, 1024, 7, 7)


def test_names_read_like_the_paper() -> None:
    names = {p.name for p in resolve(find_entry("googlenet-bn"), 1).graph.parameters}
    assert {"conv1.weight", "inception3a.1x1.weight", "inception3a.1x1.bn.running_mean", "fc.bias"} <= names


def test_a_network_without_a_dataset_is_taken_on_its_first() -> None:
    assert find_entry("lenet").dataset == "mnist"
    assert find_entry("vgg16", None).dataset == "cifar10"
    assert [entry.dataset for entry in find_network("vgg16")] == ["cifar10", "imagenet"]


def test_an_unknown_network_suggests_the_nearest() -> None:
    with pytest.raises(NetdynoError, match=r"no network named 'resnet5O'.*Did you mean 'resnet50'\?"):
        find_entry("resnet5O", "imagenet")


def test_an_unknown_dataset_suggests_the_nearest() -> None:
    with pytest.raises(NetdynoError, match=r"no dataset named 'cifar-10'.*Did you mean 'cifar10'\?"):
        find_entry("vgg16", "cifar-10")
    with pytest.raises(NetdynoError, match=r"Did you mean 'imagenet'\?"):
        find_items("imagnet")


def test_a_network_that_is_not_on_a_dataset_says_where_it_is() -> None:
    with pytest.raises(NetdynoError, match=r"network 'lenet': expected a dataset among mnist, received 'cifar10'"):
        find_entry("lenet", "cifar10")


def test_an_image_too_small_is_refused_with_the_layer_that_needs_more() -> None:
    entry = replace(find_entry("alexnet", "imagenet"), items=IMAGENET.of_size(32))
    with pytest.raises(NetdynoError, match=r"node 'max_pool\d' \(max_pool\): expected an image of at least"):
        resolve(entry, 1)


def test_a_batch_of_nothing_is_refused() -> None:
    with pytest.raises(NetdynoError, match="'images': expected a shape of whole numbers over 0"):
        resolve(find_entry("lenet"), 0)


def test_the_learning_rate_of_an_entry_reaches_its_update() -> None:
    entry = replace(find_entry("lenet"), learning_rate=0.5)
    assert resolve(entry, 1).updates()[0].optimizer.learning_rate == 0.5


def test_datasets_are_found_by_name() -> None:
    assert [find_items(items.name) for items in all_items()] == list(all_items())
    imagenet = find_items("imagenet")
    assert (imagenet.classes, imagenet.count) == (1000, 1_281_167)


def test_an_item_is_named_in_the_singular() -> None:
    assert {entry.item for entry in entries(CNN)} == {"image"}
    assert {entry.item for entry in (*entries(MLP), *entries(INSTRUMENT))} == {"sample"}


def test_vectors_are_fed_as_vectors() -> None:
    graph = resolve(find_entry("fcn5"), 3).graph
    assert (graph.inputs[0].name, graph.inputs[0].shape, graph.inputs[0].kind) == ("vectors", (3, 26752), "plain")
    assert "flatten" not in {node.op for node in graph.nodes}


def test_options_are_those_of_the_recipe_and_change_the_graph() -> None:
    entry = find_entry("fcn5-small")
    assert (entry.options, find_entry("lenet").options) == ({"hidden": 2048}, {})
    shapes = resolve(entry, 2, {"hidden": 16}).graph.shapes()
    assert (shapes["fc1.weight"], shapes["fc2.weight"]) == ((16, 512), (16, 16))
    assert resolve(entry, 2, {"hidden": 2048}) == resolve(entry, 2)


def test_a_proof_of_the_instrument_is_narrower() -> None:
    entry = reduced(find_entry("matmul"))
    assert entry.options == {"width": 64}
    assert resolve(entry, 2).graph.inputs[0].shape == (2, 64)


@pytest.mark.parametrize(
    ("network", "options", "complaint"),
    [
        ("fcn5", {"hiden": 3}, r"no option of fcn5 named 'hiden' among the 1 known. Did you mean 'hidden'\?"),
        ("fcn5", {"hidden": 0.5}, "network 'fcn5', hidden: expected a whole number, received 0.5"),
        ("fcn5", {"hidden": "many"}, "network 'fcn5', hidden: expected a whole number, received 'many'"),
        ("fcn5", {"hidden": True}, "network 'fcn5', hidden: expected a whole number, received True"),
        ("fcn5", {"hidden": 0}, "network 'fcn5', hidden: expected a whole number over 0, received 0"),
        ("lenet", {"hidden": 3}, "network 'lenet': expected no options, received 'hidden'"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(network: str, options: dict[str, Option], complaint: str) -> None:
    with pytest.raises(NetdynoError, match=complaint):
        resolve(find_entry(network), 2, options)


@pytest.mark.parametrize(
    "entry", [*entries(CNN), find_entry("unet")], ids=lambda entry: f"{entry.network}-{entry.dataset}"
)
def test_only_convolutions_that_batch_norm_follows_start_wide(entry: Entry) -> None:
    """Without normalisation the wider start makes deep networks diverge on one repeated batch."""
    graph = resolve(entry, 1).graph
    normalised = {node.inputs[0] for node in graph.nodes if node.op == "batch_norm"}
    limits = {parameter.name: parameter.initial.high for parameter in graph.parameters}
    for node in graph.nodes:
        if node.op == "convolution":
            out, *rest = graph.shapes()[node.inputs[1]]
            fan_in, fan_out = prod(rest), out * prod(rest[1:])
            wide, narrow = sqrt(6 / fan_in), sqrt(6 / (fan_in + fan_out))
            assert limits[node.inputs[1]] == pytest.approx(wide if node.name in normalised else narrow)
