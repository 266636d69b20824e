"""Tables of trainings: what is reached without a network stands below them, and a width that fits."""

import io

from rich.console import Console
from tests.report.trained import trained
from tests.results.samples import make_cell, make_training

from netdyno.report.terminal.trainings.learning import learning_tables, tables_of_every_kind
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


def test_what_all_lines_share_is_said_in_the_heading():
    records = [*trained("ffn", [0.1]), *trained("ffn", [0.2], options=(("hidden", 30),), framework="beta")]
    heading, table = _printed(learning_tables(results_of(records), None)).split("\n", 1)
    assert "float32 eager packed" in heading
    assert "float32" not in table
    assert "beta hidden=30" in table


def test_many_scores_with_intervals_stand_in_tables_below_each_other():
    scores = {f"score_number_{place}": 100.0 + place for place in range(9)}
    figures = {name: Figure(name, "", "less", value) for name, value in scores.items()}
    cell = make_cell(workload="learn", network="gan", goal="steps=3", data="packed")
    runs = [make_training(seed, cell=cell, figures=figures, headline="score_number_0") for seed in (1, 2)]
    text = _printed(learning_tables(results_of(runs), None))
    assert max(map(len, text.splitlines())) <= 100
    assert all(f"{value:.1f}" in text or f"{value:.0f}" in text for value in scores.values())
    assert text.count(cell.framework) > 1
