"""Cells that learn, in a suite: a goal, whose files, packed ones; other workloads have none of it."""

from pathlib import Path

import pytest

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.bench.suite import read_suite
from netdyno.errors import NetdynoError

BENCH = Bench(threads=2, folder=Path(), framework="null")
LEARN = 'workload = "learn"\n'


def _read(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return read_suite(path, BENCH.complete)


def _learns(**fields):
    cell = BENCH.complete({"workload": "learn", "network": "lenet", **fields})
    return cell.goal, cell.source, cell.data


def test_a_cell_that_learns_has_an_epoch_of_its_own_packed_dataset_unless_it_says_otherwise():
    assert _learns() == ("epochs=1", "mnist", "packed")
    assert _learns(goal="epochs=2.50", source="fashion-mnist") == ("epochs=2.5", "fashion-mnist", "packed")


def test_goals_may_be_listed_like_any_field(tmp_path):
    suite = _read(tmp_path, f'[matrix]\n{LEARN}network = "lenet"\ngoal = ["steps=3", "epochs=2"]\n')
    assert [cell.goal for cell in suite.cells] == ["steps=3", "epochs=2"]


def test_a_goal_is_left_out_however_it_is_written(tmp_path):
    matrix = f'[matrix]\n{LEARN}network = "lenet"\ngoal = ["steps=3", "epochs=2"]\n'
    (cell,) = _read(tmp_path, f'{matrix}[[exclude]]\ngoal = "epochs=2.0"\n').cells
    assert cell.goal == "steps=3"


def test_a_text_of_the_user_is_a_source_whichever_field_names_it():
    for field in ("dataset", "source"):
        cell = BENCH.complete({"workload": "learn", "network": "gpt2", field: "text:some/where.txt"})
        assert (cell.dataset, cell.source) == ("text", "text:some/where.txt")


def test_a_suite_says_how_often_it_evaluates(tmp_path):
    suite = _read(tmp_path, f'evaluate_every = 100\n[matrix]\n{LEARN}network = "lenet"\n')
    assert suite.settings == Settings(evaluate_every=100)
    with pytest.raises(NetdynoError, match="evaluate_every: expected a number over 0, received 0"):
        _read(tmp_path, f'evaluate_every = 0\n[matrix]\n{LEARN}network = "lenet"\n')


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"goal": "epochs=many"}, r"expected a goal such as 'epochs=1' .*, received 'epochs=many'"),
        ({"goal": "steps=0"}, "expected a number over 0, at most 2,147,483,647, received 0"),
        ({"goal": "steps=1" + 30 * "0"}, "at most 2,147,483,647"),
        ({"goal": 3}, "goal: expected a name, received 3"),
        ({"data": "synthetic"}, "data: expected 'packed' for workload 'learn', received 'synthetic'"),
        ({"workload": "train", "goal": "epochs=1"}, "goal: expected none for workload 'train', received 'epochs=1'"),
        ({"workload": "train", "source": "shapes"}, "source: expected none for workload 'train'"),
        ({"workload": "lern"}, "no workload named 'lern'.*Did you mean 'learn'"),
        ({"network": "autoencoder", "goal": "accuracy=0.9 within epochs=1"}, "it classifies nothing"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(NetdynoError, match=words):
        _learns(**fields)
