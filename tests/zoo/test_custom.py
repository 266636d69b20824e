"""Does a user's own network load, and is every mistake in it told in one line with its place?"""

from pathlib import Path
from textwrap import dedent

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.wire import digest
from netdyno.zoo.catalog import resolve
from netdyno.zoo.custom import load_network
from netdyno.zoo.items import CIFAR10, MNIST, NONE, VECTORS512

GOOD = """
    def mine(net, images):
        x = net.relu(net.linear(net.flatten(images), 32))
        return net.classifier(x)
"""


def _file(folder: Path, text: str, name: str = "nets.py") -> Path:
    path = folder / name
    path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def _complaint(path: Path, name: str = "mine") -> str:
    with pytest.raises(NetdynoError) as caught:
        load_network(f"{path}:{name}", MNIST)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_users_network_becomes_an_entry(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD)
    entry = load_network(f"{path}:mine", MNIST)
    assert (entry.network, entry.source) == ("mine", str(path))
    assert entry.parameters == 784 * 32 + 32 + 32 * 10 + 10
    assert entry.macs == 784 * 32 + 32 * 10
    assert (entry.batch, entry.learning_rate) == (64, 0.01)
    assert (entry.items, entry.options) == (MNIST, {})


def test_it_resolves_for_other_batches_and_datasets(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD)
    entry = load_network(f"{path}:mine", CIFAR10)
    assert resolve(entry, 5).graph.inputs[0].shape == (5, 3, 32, 32)
    assert digest(resolve(entry, 5)) == digest(resolve(load_network(f"{path}:mine", CIFAR10), 5))


def test_it_may_define_its_own_updates(tmp_path: Path) -> None:
    text = """
        from netdyno.graph.model import Optimizer

        def auto_encoder(net, images):
            x = net.flatten(images)
            code = net.relu(net.linear(x, 32, name="encoder"))
            copy = net.linear(code, 784, name="decoder")
            loss = net.mean_squared_error(copy, x)
            net.update(loss, ["encoder", "decoder"], optimizer=Optimizer(kind="adam", learning_rate=0.001))
            return copy
    """
    programme = resolve(load_network(f"{_file(tmp_path, text)}:auto_encoder", MNIST), 8)
    assert programme.updates()[0].optimizer.kind == "adam"
    assert [drawn.name for drawn in programme.graph.inputs] == ["images"]


@pytest.mark.parametrize("reference", ["nets.py", "nets.py:", "nets:mine", ":mine", ""])
def test_a_reference_without_file_or_function_is_refused(reference: str) -> None:
    with pytest.raises(NetdynoError, match=r"expected path/to/file\.py:function, received"):
        load_network(reference, MNIST)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert f"{tmp_path / 'none.py'}: expected a Python file" in _complaint(tmp_path / "none.py")


def test_a_missing_function_suggests_the_nearest(tmp_path: Path) -> None:
    complaint = _complaint(_file(tmp_path, GOOD), "mime")
    assert "nets.py: no function named 'mime' among the 1 known. Did you mean 'mine'?" in complaint


def test_something_that_cannot_be_called_is_refused(tmp_path: Path) -> None:
    assert "expected 'mine' to be a function (net, images), received a int" in _complaint(_file(tmp_path, "mine = 3"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def mine(net, images):\n    return (", "line 2: SyntaxError: '(' was never closed"),
        ("\nimport nothing_of_that_name\n", "line 2: ModuleNotFoundError: No module named"),
        ("x = 1\nraise SystemExit(3)\n", "line 2: SystemExit: 3"),
    ],
)
def test_a_file_that_does_not_run_is_told_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "nets.py"
    path.write_text(text, encoding="utf-8")
    assert f"{path}, {complaint}" in _complaint(path)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("x = images\n    return net.convolutoin(x, 8, 3)", "line 3: AttributeError: 'Net' object has no attribute"),
        ("x = images\n    return net.linear(x, 10)", "line 3: node 'linear1' (linear): expected a value of rank 2"),
        ("return 1 / 0", "line 2: ZeroDivisionError: division by zero"),
        ("net.flatten(images)", "line 1: expected the function to return the logits, received nothing"),
        ("return 'logits'", "line 1: expected the function to return the logits, received a str"),
        ("return images", "line 1: expected logits of shape [64, 10], received [64, 1, 28, 28]"),
        ("return net.linear(net.flatten(images), 11)", "line 1: expected logits of shape [64, 10]"),
        (
            "x = net.flatten(images)\n    net.linear(x, 9, name='idle')\n    return net.classifier(x)",
            "line 1: update 'train': expected parameters that 'loss' depends on, received 'idle.weight'",
        ),
    ],
)
def test_a_function_that_fails_is_told_with_its_line(tmp_path: Path, body: str, complaint: str) -> None:
    path = _file(tmp_path, f"def mine(net, images):\n    {body}\n")
    assert f"{path}, {complaint}" in _complaint(path)


def test_a_mistake_in_an_inner_function_shows_the_inner_line(tmp_path: Path) -> None:
    text = """
        def block(net, x):
            return net.max_pool(x, 40, 1)

        def mine(net, images):
            return net.classifier(net.flatten(block(net, images)))
    """
    assert "line 2: node 'max_pool1' (max_pool): expected an image of at least" in _complaint(_file(tmp_path, text))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("", "too many positional arguments"),
        ("net, images, labels", "missing a required argument: 'labels'"),
        ("net, images, *, units", "option 'units': expected a number or a text as its default, received none"),
    ],
)
def test_a_function_with_other_parameters_is_refused(tmp_path: Path, parameters: str, complaint: str) -> None:
    path = _file(tmp_path, f"def mine({parameters}):\n    return images\n")
    assert f"{path}: expected 'mine' to take (net, images) or (net), received: {complaint}" in _complaint(path)


def test_its_keyword_only_parameters_are_options(tmp_path: Path) -> None:
    text = """
        def mine(net, vectors, *, units=32, slope=1.0):
            return net.classifier(net.scale(net.linear(vectors, units), slope))
    """
    entry = load_network(f"{_file(tmp_path, text)}:mine", VECTORS512)
    assert entry.options == {"units": 32, "slope": 1.0}
    assert resolve(entry, 3, {"units": 5, "slope": 2}).graph.shapes()["linear1.weight"] == (5, 512)
    with pytest.raises(NetdynoError, match=r"no option of mine named 'unit'.*Did you mean 'units'\?"):
        resolve(entry, 3, {"unit": 5})


def test_it_may_declare_inputs_of_its_own(tmp_path: Path) -> None:
    text = """
        def mine(net):
            x, target = net.vectors(7, name="x"), net.vectors(2, name="target")
            y = net.linear(x, 2)
            net.update(net.mean_squared_error(y, target))
            return y
    """
    programme = resolve(load_network(f"{_file(tmp_path, text)}:mine", NONE), 4)
    assert [(drawn.name, drawn.shape) for drawn in programme.graph.inputs] == [("x", (4, 7)), ("target", (4, 2))]


def test_a_network_of_images_is_refused_on_a_dataset_without_items(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD)
    with pytest.raises(NetdynoError, match="network 'mine': expected a dataset with items, received 'none'"):
        load_network(f"{path}:mine", NONE)


def test_a_network_that_only_works_for_one_batch_is_refused_later_in_one_line(tmp_path: Path) -> None:
    text = """
        def mine(net, images):
            assert net.batch == 64, "only 64"
            return net.classifier(net.flatten(images))
    """
    entry = load_network(f"{_file(tmp_path, text)}:mine", MNIST)
    with pytest.raises(NetdynoError, match="line 2: AssertionError: only 64"):
        resolve(entry, 1)
