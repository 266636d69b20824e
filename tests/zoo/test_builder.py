"""Does a recipe become the graph that it reads like?"""

from collections.abc import Callable
from math import sqrt

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.check import check_programme
from netdyno.graph.model import Draw, Optimizer, Parameter, constant
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import he


@pytest.fixture
def net() -> Net:
    return Net(batch=4, classes=10, learning_rate=0.05)


@pytest.fixture
def images(net: Net) -> Value:
    return net.input("images", (4, 6, 8, 8), Draw(kind="normal"), kind="image")


def _parameters(net: Net, output: Value) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in net.programme(output).graph.parameters}


def test_layers_are_numbered_and_name_their_parameters(net: Net, images: Value) -> None:
    x = net.relu(net.batch_norm(net.convolution(images, 8, 3)))
    x = net.batch_norm(net.convolution(x, 8, 3))
    assert x.name == "bn2"
    assert list(_parameters(net, net.classifier(net.flatten(x), name="fc"))) == [
        *("conv1.weight", "conv1.bias"),
        *("bn1.scale", "bn1.shift", "bn1.running_mean", "bn1.running_variance"),
        *("conv2.weight", "conv2.bias"),
        *("bn2.scale", "bn2.shift", "bn2.running_mean", "bn2.running_variance"),
        *("fc.weight", "fc.bias"),
    ]


def test_scopes_nest_and_number_for_themselves(net: Net, images: Value) -> None:
    with net.scope("block"):
        first = net.convolution(images, 6, 1)
        with net.scope("inner"):
            second = net.convolution(first, 6, 1)
    third = net.convolution(second, 6, 1)
    assert [first.name, second.name, third.name] == ["block.conv1", "block.inner.conv1", "conv1"]


def test_a_scope_ends_even_if_its_recipe_fails(net: Net, images: Value) -> None:
    with pytest.raises(NetdynoError), net.scope("block"):
        net.linear(images, 5)
    assert net.relu(images).name == "relu1"


def test_a_generated_name_steps_aside_for_a_given_one(net: Net, images: Value) -> None:
    net.relu(images, name="relu1")
    assert net.relu(images).name == "relu2"


def test_a_name_given_twice_is_refused(net: Net, images: Value) -> None:
    net.relu(images, name="same")
    with pytest.raises(NetdynoError, match="'same': expected a name used once"):
        net.tanh(images, name="same")


def test_weights_start_within_the_limit_of_their_layer(net: Net, images: Value) -> None:
    x = net.convolution(images, 12, 3, groups=2, initial=he, name="grouped")
    x = net.flatten(net.convolution(x, 2, 5, name="plain"))
    parameters = _parameters(net, net.classifier(x, name="fc"))
    limits = {name: parameters[f"{name}.weight"].initial.high for name in ("grouped", "plain", "fc")}
    assert limits["grouped"] == pytest.approx(sqrt(6 / (3 * 9)))
    assert limits["plain"] == pytest.approx(sqrt(6 / (12 * 25 + 2 * 25)))
    assert limits["fc"] == pytest.approx(1 / sqrt(8))
    assert parameters["fc.weight"].initial.low == -limits["fc"]
    assert parameters["fc.bias"].initial == constant(0.0)


def test_a_transposed_convolution_has_the_weight_of_the_convolution_that_it_reverses(net: Net, images: Value) -> None:
    x = net.transposed_convolution(images, 4, (3, 4), stride=2, pad=1, groups=2, initial=he, name="up")
    assert (x.shape, x.kind) == ((4, 4, 15, 16), "image")
    parameters = _parameters(net, net.classifier(net.flatten(x)))
    weight = parameters["up.weight"]
    assert (weight.shape, weight.kind, parameters["up.bias"].shape) == ((6, 2, 3, 4), "kernel", (4,))
    assert weight.initial.high == pytest.approx(sqrt(6 / (3 * 12)))


def test_running_statistics_are_state_and_start_neutral(net: Net, images: Value) -> None:
    x = net.classifier(net.global_mean_pool(net.batch_norm(images)))
    parameters = _parameters(net, x)
    assert not parameters["bn1.running_mean"].trainable
    assert parameters["bn1.running_mean"].initial == constant(0.0)
    assert parameters["bn1.running_variance"].initial == constant(1.0)
    assert parameters["bn1.scale"].initial == constant(1.0)
    assert net.programme(x).updates()[0].parameters[:2] == ("bn1.scale", "bn1.shift")


def test_no_two_random_layers_share_a_seed(net: Net, images: Value) -> None:
    x = net.dropout(net.dropout(images))
    net.bernoulli(net.sigmoid(x))
    net.normal((4, 2))
    nodes = net.programme(net.classifier(net.flatten(x))).graph.nodes
    seeds = [node.attributes["seed"] for node in nodes if "seed" in node.attributes]
    assert len(set(seeds)) == len(seeds) == 4


def test_labels_are_an_input_only_of_networks_that_use_them(net: Net, images: Value) -> None:
    code = net.linear(net.flatten(images), 384)
    net.update(net.mean_squared_error(code, net.flatten(images)))
    assert [drawn.name for drawn in net.programme(code).graph.inputs] == ["images"]


def test_the_default_update_classifies(net: Net, images: Value) -> None:
    programme = net.programme(net.classifier(net.flatten(images)))
    check_programme(programme)
    assert [drawn.name for drawn in programme.graph.inputs] == ["images", "labels"]
    assert programme.graph.inputs[1].draw == Draw(kind="integers", low=0, high=10)
    assert programme.updates()[0].optimizer == Optimizer(kind="momentum", learning_rate=0.05)


def test_asking_for_the_training_twice_gives_the_same(net: Net, images: Value) -> None:
    output = net.classifier(net.flatten(images))
    assert net.programme(output) == net.programme(output)


def test_updates_over_scopes_and_layers_train_only_those(net: Net, images: Value) -> None:
    """A generator and a discriminator: two updates over two groups, with losses of their own."""
    with net.scope("generator"):
        fake = net.linear(net.normal((4, 2)), 384)
    weight = net.parameter("discriminator.weight", (1, 384), Draw(kind="uniform", low=-0.1, high=0.1))
    real_score = net.node("linear", net.flatten(images), weight)
    ones, zeros = (net.input(n, (4, 1), constant(v)) for n, v in (("ones", 1.0), ("zeros", 0.0)))
    blind = net.node("linear", net.stop_gradient(fake), weight)
    losses = net.binary_cross_entropy(real_score, ones), net.binary_cross_entropy(blind, zeros)
    adam = Optimizer(kind="adam", learning_rate=2e-4, beta1=0.5)
    net.update(net.add(*losses), ["discriminator"], optimizer=adam, name="discriminate")
    fooled = net.binary_cross_entropy(net.node("linear", fake, weight), ones)
    net.update(fooled, ["generator.linear1"], optimizer=adam, name="generate")
    programme = net.programme(fake)
    check_programme(programme)
    assert [update.parameters for update in programme.updates()] == [
        ("discriminator.weight",),
        ("generator.linear1.weight", "generator.linear1.bias"),
    ]


def test_a_group_is_matched_by_whole_words(net: Net, images: Value) -> None:
    x = net.linear(net.flatten(images), 10, name="fc1")
    x = net.linear(x, 10, name="fc10")
    net.update(net.softmax_cross_entropy(x, net.labels), ["fc1"])
    assert net.programme(x).updates()[0].parameters == ("fc1.weight", "fc1.bias")


def test_a_weight_may_be_used_again(net: Net, images: Value) -> None:
    x = net.linear(net.flatten(images), 10, name="first")
    x = net.linear(net.tanh(x), 10, name="second")
    y = net.linear(x, 10, weight=net.value("second.weight"), bias=net.value("second.bias"), name="third")
    programme = net.programme(y)
    check_programme(programme)
    assert programme.graph.nodes[-2].inputs == ("second", "second.weight", "second.bias")
    assert programme.updates()[0].parameters == ("first.weight", "first.bias", "second.weight", "second.bias")
    with pytest.raises(NetdynoError, match=r"node 'linear1': expected a weight of \[7, 10\], received \[10, 10\]"):
        net.linear(x, 7, weight=net.value("second.weight"))
    with pytest.raises(NetdynoError, match=r"no value named 'secnd.weight'.*Did you mean 'second.weight'"):
        net.value("secnd.weight")


def test_updates_in_a_stage_belong_to_it(net: Net, images: Value) -> None:
    x = net.linear(net.flatten(images), 10, name="first")
    with net.stage("alone"):
        net.update(net.mean_squared_error(x, x), name="first")
    y = net.classifier(x, name="second")
    net.update(net.softmax_cross_entropy(y, net.labels), ["second"])
    stages = net.programme(y).stages
    assert [(stage.name, [update.name for update in stage.updates]) for stage in stages] == [
        ("alone", ["first"]),
        ("train", ["train"]),
    ]


def test_inputs_are_those_of_the_dataset_unless_said_otherwise() -> None:
    net = Net(batch=2, classes=3, learning_rate=0.1, shape=(3, 8, 8))
    assert (net.images().shape, net.images((1, 4, 5), name="small").shape) == ((2, 3, 8, 8), (2, 1, 4, 5))
    assert net.vectors(6).shape == (2, 6)
    with pytest.raises(NetdynoError, match=r"'pairs': expected a dataset of pairs, received one with \[3, 8, 8\]"):
        net.vectors(name="pairs")


def test_an_unknown_group_suggests_the_nearest(net: Net, images: Value) -> None:
    loss = net.softmax_cross_entropy(net.classifier(net.flatten(images), name="head"), net.labels)
    with pytest.raises(NetdynoError, match=r"named 'heat\.weight'.*Did you mean 'head\.weight'"):
        net.update(loss, ["heat.weight"])


def test_two_updates_of_one_name_are_refused(net: Net, images: Value) -> None:
    loss = net.softmax_cross_entropy(net.classifier(net.flatten(images)), net.labels)
    net.update(loss)
    with pytest.raises(NetdynoError, match="update 'train': expected a name used once"):
        net.update(loss)


def test_every_loss_is_a_scalar(net: Net, images: Value) -> None:
    x = net.flatten(images)
    losses = (
        net.mean_squared_error(x, x),
        net.binary_cross_entropy(x, x),
        net.gaussian_kl(x, x),
        net.softmax_cross_entropy(x, net.labels),
    )
    assert {loss.shape for loss in losses} == {()}


def test_values_join_scale_and_multiply(net: Net, images: Value) -> None:
    x = net.concat(images, net.scale(images, 2), net.multiply(images, images))
    assert x.shape == (4, 18, 8, 8)
    assert net.mean_pool(x, 3, 2, pad=(0, 1, 0, 1)).shape == (4, 18, 4, 4)


@pytest.mark.parametrize(
    ("layer", "complaint"),
    [
        (lambda net, x: net.linear(x, 10), "linear1.*expected a value of rank 2, received .4, 6, 8, 8."),
        (lambda net, x: net.convolution(x, 8, 9), "conv1.*expected an image of at least the kernel"),
        (lambda net, x: net.convolution(x, 0, 3), "conv1.weight.*whole numbers over 0, received .0, 6, 3, 3."),
        (lambda net, x: net.convolution(x, 8, 3, groups=4), "conv1.*a weight for 6 channels in 4 groups"),
        (lambda net, x: net.convolution(x, 8, 3, groups=0), "conv1.*groups.*expected a whole number over 0"),
        (
            lambda net, x: net.transposed_convolution(x, 4, 3, groups=4),
            "deconv1.*a weight for 6 channels in 4 groups",
        ),
        (lambda net, x: net.convolution(x, 8, 3, pad=-1), "conv1', padding: expected four whole numbers"),
        (lambda net, x: net.max_pool(x, 2, 0, ceil=True), "max_pool1', strides: expected two whole numbers"),
        (lambda net, x: net.max_pool(x, 2, 2, pad=2), "max_pool1.*padding smaller than the kernel"),
        (lambda net, x: net.dropout(x, 1.0), r"dropout1', rate: expected a number in \[0, 1\)"),
        (lambda net, x: net.local_response_norm(x, size=4), "lrn1', size: expected an odd whole number"),
        (lambda net, x: net.add(x, net.flatten(x)), "add1.*expected inputs of one shape"),
        (lambda net, x: net.relu(None), "relu1.*expected values of this network, received None"),
        (lambda net, x: net.relu(Value("elsewhere", (1,))), "expected values of this network"),
        (lambda net, x: net.batch_norm(net.labels), "bn1.*expected a value of rank 2 or 4"),
        (lambda net, x: net.node("softsign", x), "softsign1.*no op named 'softsign'"),
    ],
)
def test_a_wrong_layer_is_refused_at_once_and_by_name(
    net: Net, images: Value, layer: Callable[[Net, Value], Value], complaint: str
) -> None:
    with pytest.raises(NetdynoError, match=complaint):
        layer(net, images)


def test_integers_stay_integers_when_they_are_cut_or_reshaped() -> None:
    net = Net(batch=2, classes=7, learning_rate=0.1)
    tokens = net.tokens(5)
    x = net.embedding(net.slice(tokens, 1, 0, 4), 7, 3)
    assert (x.shape, x.kind) == ((2, 4, 3), "sequence")
    labels = net.reshape(net.slice(tokens, 1, 1, 5), (-1,))
    logits = net.linear(net.reshape(x, (-1, 3)), 7)
    net.update(net.softmax_cross_entropy(logits, labels))
    check_programme(net.programme(logits))


def test_integers_do_not_become_floats_by_being_reshaped() -> None:
    net = Net(batch=2, classes=7, learning_rate=0.1)
    flat = net.reshape(net.tokens(5), (2, 5))
    net.update(net.mean_squared_error(net.linear(flat, 5), flat))
    with pytest.raises(NetdynoError, match="expected floats as its x"):
        check_programme(net.programme(flat))
