"""The suites about the survey's questions: what they compare is comparable."""

from pathlib import Path

import pytest

from netdyno.bench.cells import Bench
from netdyno.bench.suite import read_suite
from netdyno.bench.suites import find_suite
from netdyno.report.published.nodes import RULES
from netdyno.zoo.catalog import find_entry

BENCH = Bench(threads=2, folder=Path(), framework="pytorch-2")


def _suite(name):
    return read_suite(find_suite(name), BENCH.complete)


def test_nodes_has_values_on_both_sides_of_every_rule():
    cells = _suite("nodes").cells
    for network, rule in RULES.items():
        usual = find_entry(network, "mnist").options[rule.option]
        values = [dict(cell.options).get(rule.option, usual) for cell in cells if cell.network == network]
        assert {rule.follows(value, 784) for value in values} == {True, False}, network


@pytest.mark.parametrize("name", ["nodes", "shallow-vs-deep"])
def test_they_learn_real_data_with_three_seeds(name):
    suite = _suite(name)
    assert suite.settings.runs == 3
    assert {(cell.workload, cell.data, cell.source) for cell in suite.cells} == {("learn", "packed", "mnist")}


def test_shallow_and_deep_networks_see_the_same_number_of_images():
    assert len({(cell.goal, cell.batch) for cell in _suite("shallow-vs-deep").cells}) == 1
