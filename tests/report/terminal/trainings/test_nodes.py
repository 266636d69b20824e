"""More and fewer nodes in the terminal: a table within 100 columns, and the verdict below it."""

import io

from rich.console import Console
from tests.report.trained import trained

from netdyno.report.terminal.trainings.nodes import nodes_tables
from netdyno.results.result import results_of


def test_each_number_of_nodes_has_a_line_and_the_rule_a_verdict():
    runs = [
        run
        for hidden, error in ((196, 0.03), (784, 0.02))
        for run in trained("ffn", [error, error * 1.01], options={"hidden": hidden}, flops=hidden * 5e3)
    ]
    console = Console(file=io.StringIO(), width=100)
    for part in nodes_tables(results_of(runs)):
        console.print(part)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.split()[:4] == ["784", "3.92", "2.0", "2"] and line.rstrip().endswith("yes") for line in lines)
    assert "The survey: at least as many hidden nodes as inputs, here 784." in " ".join(lines)


def test_trainings_without_a_rule_have_no_table():
    assert nodes_tables(results_of(trained("lenet", [0.1]))) == []
