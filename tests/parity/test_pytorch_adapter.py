"""The code that the PyTorch adapter generates: what makes it fast must not be lost unnoticed.

Whether it computes the right thing is the generic parity test's question.
"""

from small_programs import CASES, Sketch

from netdyno.graph.wire import to_wire
from netdyno.zoo.catalog import find_entry, resolve
from netdyno_worker.adapters.pytorch.ops import write_source
from netdyno_worker.program import read_program


def _source(wire, targets=None, widen=False):
    program = read_program(wire)
    return write_source(program, targets or program.updates[0].loss, "cpu", widen)


def _zoo(network, dataset):
    return to_wire(resolve(find_entry(network, dataset), 2))


def test_pools_over_the_edge_need_no_copy_of_the_image():
    text = _source(_zoo("googlenet", "imagenet")).text
    assert text.count("torch.max_pool2d(") == 13
    assert "True)  # max_pool1" in text
    assert "F.pad" not in text


def test_a_relu_overwrites_what_a_convolution_or_batch_norm_made():
    text = _source(_zoo("resnet50", "cifar10")).text
    assert text.count("torch.relu_(") == 49
    assert "torch.relu(" not in text
    assert text.count(".add_(") == 16


def test_a_relu_leaves_a_value_alone_that_is_read_again():
    sketch = Sketch()
    sketch.input("x", [2, 3])
    sketch.parameter("w", [3, 3])
    sketch.node("y", "linear", ["x", "w"], [2, 3])
    sketch.node("z", "relu", ["y"], [2, 3])
    sketch.node("loss", "mean_squared_error", ["z", "y"], [])
    sketch.update("loss", {"kind": "sgd", "learning_rate": 0.1})
    assert "torch.relu_(" not in _source(sketch.wire("z")).text


def test_a_relu_leaves_a_value_alone_that_is_itself_an_output():
    sketch = Sketch()
    sketch.input("x", [2, 3])
    sketch.parameter("w", [3, 3])
    sketch.node("y", "linear", ["x", "w"], [2, 3])
    sketch.node("z", "relu", ["y"], [2, 3])
    assert "torch.relu_(" not in _source(sketch.wire("y", "z"), ["y", "z"]).text


def test_a_value_is_let_go_after_its_last_reader():
    lines = _source(_zoo("lenet", "mnist")).text.splitlines()
    kept = [line.split(" = ")[0].strip() for line in lines if "  # " in line]
    let_go = [line.split("del ")[1] for line in lines if "    del " in line]
    assert let_go == kept[:-1]


def test_losses_are_widened_only_where_values_are_narrow():
    wire = CASES["gaussian_kl/plain"]
    assert ".float()" in _source(wire, widen=True).text
    assert ".float()" not in _source(wire).text


def test_a_pool_with_no_native_form_gets_its_divisors_as_a_constant():
    source = _source(CASES["mean_pool/asymmetric"])
    assert list(source.constants) == ["c0"]
    assert 0 < source.constants["c0"].min() < source.constants["c0"].max() == 1


def test_recurrent_layers_in_a_row_are_one_call_of_their_kernel():
    layers = [line for line in _source(_zoo("lstm", "text")).text.splitlines() if " = lstm(" in line]
    assert len(layers) == 1
    assert layers[0].count(", ") == 2 * 4


def test_a_recurrent_layer_that_is_read_twice_stays_a_call_of_its_own():
    wire = _zoo("lstm", "text")
    lines = write_source(read_program(wire), ["lstm1", "lstm2"], "cpu", False).text.splitlines()
    assert len([line for line in lines if " = lstm(" in line]) == 2
