"""Are the counts of a whole training step the ones that a pencil gives?"""

from dataclasses import replace

from netdyno.graph.model import Draw, Optimizer, Programme, Stage
from netdyno.graph.totals import kept_bytes, node_costs, totals
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
    by_name = dict(zip([node.name for node in programme.graph.nodes], node_costs(programme.graph), strict=True))
    assert by_name["conv2"].macs == CONV2
    assert by_name["flatten1"].forward_flops == 0
    assert sum(cost.macs for cost in by_name.values()) == MACS


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
    plain = kept_bytes(net.programme(net.classifier(net.linear(x, 4))).graph)
    net, x = _vectors()
    masked = kept_bytes(net.programme(net.classifier(net.dropout(net.linear(x, 4)))).graph)
    assert masked - plain == 2 * 4


def test_a_value_that_two_nodes_need_is_kept_once() -> None:
    net, x = _vectors()
    both = net.add(net.linear(x, 3), net.linear(x, 3))
    assert kept_bytes(net.programme(both).graph) == 4 * (2 * 5 + 2 * 3)


def test_nothing_is_computed_back_to_where_no_parameter_is() -> None:
    net, x = _vectors()
    programme = net.programme(net.classifier(net.tanh(x)))
    counted = totals(programme)
    tanh, product, loss = 10, 2 * 2 * 5 * 3, 6
    forward = tanh + product + loss + 5 * loss
    backward = product + loss + 2 * loss  # of the product only the weight's half, of tanh nothing
    assert counted.step_flops == forward + backward + 4 * 18
