"""Tables of trainings: what is reached without a network stands below them, and a width that fits."""

import io

from rich.console import Console
from tests.results.samples import make_cell, make_training

from netdyno.report.terminal.learning import learning_tables, tables_of_every_kind
from netdyno.results.figure import Figure
from netdyno.results.record import Evaluation
from netdyno.results.result import results_of


def _printed(parts):
    console = Console(file=io.StringIO(), width=100)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def _results(**basis):
    curve = (Evaluation(step=3, train_s=1.0, wall_s=1.0, loss=5.5),)
    cell = make_cell(workload="learn", network="gpt2", goal="steps=3", source="text:a", data="packed")
    figures = {"loss": Figure("loss", "", "less", 5.5)}
    return results_of([make_training(1, cell=cell, curve=curve, figures=figures, headline="loss", basis=basis)])


def test_what_needs_no_network_is_named_below_the_table():
    text = _printed(learning_tables(_results(**{"simple unigram": 6.2, "simple bigram": 5.41}), None))
    assert "Reached without a network: unigram 6.2000, bigram 5.4100." in text


def test_trainings_without_it_say_nothing_of_it():
    assert "without a network" not in _printed(tables_of_every_kind(_results()))
