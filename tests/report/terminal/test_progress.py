"""What a training shows while it goes on: steps, the last accuracy and the time left."""

import io
import json

import pytest
from rich.console import Console
from tests.results.samples import make_cell

from netdyno.report.terminal.progress import TrainingProgress, training_words
from netdyno.runtime.observer import Step


def _evaluation(step, at, accuracy):
    facts = {"step": step, "epoch": step / 100, "train_s": step / 20, "wall_s": step / 10}
    return {"event": "evaluation", "at": at, "accuracy": accuracy, "loss": 0.5, **facts}


@pytest.fixture
def step(tmp_path):
    def make(goal, *evaluations):
        (tmp_path / "rank0").mkdir(exist_ok=True)
        lines = "".join(json.dumps(_evaluation(*each)) + "\n" for each in evaluations)
        (tmp_path / "rank0" / "events.jsonl").write_text(lines)
        cell = make_cell(workload="learn", goal=goal, source="mnist", data="packed")
        return Step(cell=cell, number=2, left=3, folder=tmp_path)

    return make


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("steps=400", "step 100 of 400 · accuracy 0.9000 · 25 s left"),
        ("epochs=3", "step 100 of 300 · accuracy 0.9000 · 15 s left"),
        ("accuracy=0.99 within epochs=3", "step 100 of 300 · accuracy 0.9000 · at most 15 s left"),
        ("steps=100", "step 100 of 100 · accuracy 0.9000"),
    ],
)
def test_the_last_evaluation_says_how_far_a_training_is(step, goal, words):
    assert training_words(step(goal, (50, 1000, 0.5), (100, 1010, 0.9)), now=1015) == words


def test_before_the_first_evaluation_there_is_nothing_to_say(step):
    assert training_words(step("steps=400"), now=1015) == ""
    assert training_words(Step(cell=step("steps=4").cell, number=1, left=1), now=1015) == ""


def test_without_a_terminal_a_line_comes_now_and_then(step):
    now, console = [1000.0], Console(file=io.StringIO(), width=200)
    progress = TrainingProgress(console, clock=lambda: now[0])
    progress.started(step("steps=400"))
    for now[0], evaluations in ((1002, [(20, 1002, 0.1)]), (1016, [(100, 1016, 0.9)]), (1018, [(110, 1018, 0.91)])):
        step("steps=400", *evaluations)
        progress.polled()
    (line,) = console.file.getvalue().splitlines()
    assert line.endswith("seed 2: step 100 of 400 · accuracy 0.9000 · 30 s left")
