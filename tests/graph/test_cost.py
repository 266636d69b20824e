"""Are the counts of a whole training step the ones that a pencil gives?"""

from dataclasses import replace

from netdyno.graph.cost import node_costs, totals
from netdyno.graph.model import Draw, Optimizer, Programme, Stage
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import find_entry, resolve

# LeNet on one image, layer by layer; biases add one operation per output.
CONV1, CONV2, FC3, FC4, FC5 = 6 * 28 * 28 * 25, 16 * 10 * 10 * 150, 400 * 120, 120 * 84, 84 * 10
MACS = CONV1 + CONV2 + FC3 + FC4 + FC5
MAPS1, MAPS2 = 6 * 28 * 28, 16 * 10 * 10
BIASES = MAPS1 + MAPS2 + 120 + 84 + 10
TANHS = MAPS1 + MAPS2 + 120 + 84
POOLS = MAPS1 + MAPS2  # 2×2 windows that do not overlap read every value once
FORWARD = 2 * MACS + BIASES + TANHS + POOLS + 5 * 10
BACKWARD = 4 * MACS - 2 * CONV1 + BIASES + 3 * TANHS + POOLS + 2 * 10


def _lenet(batch: int) -> Programme:
    return resolve(find_entry("lenet"), batch)


def test_lenet_costs_what_a_pencil_gives() -> None:
    counted = totals(_lenet(1))
    assert (counted.macs, counted.parameters) == (416_520, 61_706)
    assert counted.forward_flops == FORWARD == 852_420
    assert counted.step_flops == FORWARD + BACKWARD + 4 * 61_706 == 2_562_490
    assert counted.parameter_bytes == 4 * 61_706


def test_lenet_keeps_what_its_backward_pass_needs() -> None:
    image, pooled, flat, logits = 784, 6 * 14 * 14, 400, 10
    assert totals(_lenet(1)).kept_bytes == 4 * (image + MAPS1 + pooled + MAPS2 + flat + 120 + 84 + logits) == 35_512


def test_counts_grow_with_the_batch_except_those_of_parameters() -> None:
    one, many = totals(_lenet(1)), totals(_lenet(7))
    assert (many.batch, many.macs, many.kept_bytes) == (7, 7 * one.macs, 7 * one.kept_bytes)
    assert many.forward_flops == 7 * one.forward_flops
    assert many.step_flops - 4 * many.parameters == 7 * (one.step_flops - 4 * one.parameters)
    assert many.parameter_bytes == one.parameter_bytes


def test_each_node_has_its_own_cost() -> None:
    programme = _lenet(1)
    costs = node_costs(programme.graph)
    assert [(cost.name, cost.op, cost.shape) for cost in costs] == [
        (node.name, node.op, node.shape) for node in programme.graph.nodes
    ]
    by_name = {cost.name: cost for cost in costs}
    assert by_name["conv2"].macs == CONV2
    assert by_name["conv1"].backward_flops == 2 * CONV1 + MAPS1  # of its weight and bias, not of the images
    assert by_name["conv2"].backward_flops == 4 * CONV2 + MAPS2
    assert by_name["flatten1"].forward_flops == 0
    assert sum(cost.macs for cost in costs) == MACS
    assert sum(cost.forward_flops for cost in costs) == FORWARD
    assert sum(cost.backward_flops for cost in costs) == BACKWARD


def test_a_node_reads_its_operands_and_writes_its_value() -> None:
    by_name = {cost.name: cost for cost in node_costs(_lenet(2).graph)}
    conv2, pool1, flatten = by_name["conv2"], by_name["mean_pool1"], by_name["flatten1"]
    assert conv2.read_bytes == 4 * (2 * 6 * 14 * 14 + 16 * 6 * 25 + 16)
    assert conv2.written_bytes == 4 * 2 * MAPS2
    assert (pool1.read_bytes, pool1.written_bytes) == (4 * 2 * MAPS1, 4 * 2 * MAPS1 // 4)
    assert (flatten.read_bytes, flatten.written_bytes) == (0, 0)


def test_a_value_is_kept_by_the_first_node_that_needs_it() -> None:
    net, x = _vectors()
    both = net.add(net.linear(x, 3, name="first"), net.linear(x, 3, name="second"))
    kept = {cost.name: cost.kept_bytes for cost in node_costs(net.programme(both).graph)}
    assert kept == {"first": 4 * 2 * 5, "second": 0, "add1": 0, "loss": 4 * 2 * 3}


def test_a_value_read_twice_by_one_node_is_read_once() -> None:
    net, x = _vectors()
    y = net.multiply(x, x, name="square")
    (square, *_) = node_costs(net.programme(net.classifier(y)).graph)
    assert (square.read_bytes, square.written_bytes) == (4 * 10, 4 * 10)


def test_what_picks_reads_only_what_it_picks() -> None:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    tokens = net.input("tokens", (2, 3), Draw(kind="integers", low=0.0, high=50.0))
    table = net.parameter("table", (50, 4), Draw(kind="normal"))
    rows = net.node("gather", table, tokens)
    first = net.node("slice", rows, axis=1, start=0, stop=1)
    gather, part = node_costs(net.programme(net.classifier(net.flatten(first))).graph)[:2]
    assert (gather.read_bytes, gather.written_bytes) == (4 * (2 * 3 * 4 + 2 * 3), 4 * 2 * 3 * 4)
    assert (part.read_bytes, part.written_bytes) == (4 * 2 * 4, 4 * 2 * 4)


def test_the_optimizer_counts_once_per_parameter() -> None:
    programme = _lenet(1)
    update = programme.updates()[0]
    adam = replace(update, optimizer=Optimizer(kind="adam", learning_rate=0.001))
    dearer = replace(programme, stages=(Stage(name="train", updates=(adam,)),))
    assert totals(dearer).step_flops - totals(programme).step_flops == (12 - 4) * 61_706


def _vectors() -> tuple[Net, Value]:
    net = Net(batch=2, classes=3, learning_rate=0.1)
    return net, net.input("x", (2, 5), Draw(kind="normal"))


def test_a_dropout_mask_is_kept_as_one_byte_per_element() -> None:
    net, x = _vectors()
    plain = totals(net.programme(net.classifier(net.linear(x, 4)))).kept_bytes
    net, x = _vectors()
    masked = totals(net.programme(net.classifier(net.dropout(net.linear(x, 4))))).kept_bytes
    assert masked - plain == 2 * 4


def test_a_value_that_two_nodes_need_is_kept_once() -> None:
    net, x = _vectors()
    both = net.add(net.linear(x, 3), net.linear(x, 3))
    assert totals(net.programme(both)).kept_bytes == 4 * (2 * 5 + 2 * 3)


def test_nothing_is_computed_back_to_where_no_parameter_is() -> None:
    net, x = _vectors()
    programme = net.programme(net.classifier(net.tanh(x)))
    counted = totals(programme)
    tanh, product, loss = 10, 2 * 2 * 5 * 3, 6
    forward = tanh + product + loss + 5 * loss
    backward = product + loss + 2 * loss  # of the product only the weight's half, of tanh nothing
    assert counted.step_flops == forward + backward + 4 * 18
