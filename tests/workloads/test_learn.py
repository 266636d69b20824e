"""Is a worker asked to learn what was planned, and is a goal that cannot be meant refused?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from netdyno.bench.settings import Settings
from netdyno.data.item import About
from netdyno.data.packing import Ready
from netdyno.errors import NetdynoError
from netdyno.graph.lower import lowered
from netdyno.graph.wire import from_wire
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import Done, Drawn, Evaluation, FirstStep, Pictures, Trained
from netdyno.protocol.request import Transforms
from netdyno.results.cell import Cell
from netdyno.runtime.judge import judge
from netdyno.runtime.task import Finished
from netdyno.runtime.watch import Ending
from netdyno.runtime.worker import Worker
from netdyno.workloads.goal import Goal
from netdyno.workloads.inputs import InputFiles
from netdyno.workloads.learn import headline, learn_figures, learn_request, record_of
from netdyno.workloads.workload import Job, RunFacts
from netdyno.zoo.catalog import find_entry, resolve

WORKER = Worker(python=Path("python"), archive=Path("worker-abc.pyz"), adapter="reference")
GREY = Transforms(mean=(0.13,), std=(0.31,))
READY = Ready(
    source="mnist",
    format="packed",
    folder=Path("/data"),
    about=About(count=60_000, classes=("a",), shape=(28, 28, 1)),
)


def _job(network: str = "lenet", dataset: str | None = None, goal: str = "steps=938", **changes: Any) -> Job:
    entry = find_entry(network, dataset)
    cell = Cell(
        workload="learn",
        network=network,
        dataset=entry.dataset,
        goal=goal,
        source=entry.dataset,
        framework="reference",
        device="cpu",
        batch=2,
        precision="float32",
        execution="eager",
        data="packed",
        threads=3,
    )
    given: dict[str, Any] = {
        "cell": cell,
        "number": 4,
        "programme": resolve(entry, 2),
        "worker": WORKER,
        "timing": Settings().timing("cpu"),
        "inputs": InputFiles(ready=READY, transforms=GREY),
    }
    return Job(**{**given, **changes})


def _request(*network: str, **changes: Any) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(msgspec.json.encode(learn_request(_job(*network, **changes))))
    return request


def test_a_plan_crosses_as_json_with_everything_in_it() -> None:
    request = _request(evaluate_every=100, goal="accuracy=0.985 within steps=938")
    assert (request["task"], request["seed"], request["cell"]["data"]) == ("learn", 20180911, "packed")
    assert request["plan"] == {
        "train": "/data/train.packed",
        "test": "/data/test.packed",
        "transforms": {"mean": [0.13], "std": [0.31], "crop": None, "pad": 0, "flip": False, "resized": False},
        "steps": 938,
        "epochs": None,
        "evaluate_every": 100,
        "until": 0.985,
        "loading_threads": 3,
        "logits": "fc5",
        "losses": [],
        "scores": {},
        "evaluation": None,
        "before": [],
        "labelled": None,
        "pictures": None,
    }


def test_batch_norms_bring_a_graph_for_evaluation_and_say_where_it_comes_from() -> None:
    evaluation = _request("resnet50", "cifar10")["plan"]["evaluation"]
    graph = from_wire(evaluation["programme"]).graph
    known = {parameter.name for parameter in graph.parameters}
    assert {row["weight"] for row in evaluation["folded"]} <= known
    assert len(evaluation["folded"]) == 53
    whole = lowered(resolve(find_entry("resnet50", "cifar10"), 2), WORKER.fused)
    assert from_wire(_request("resnet50", "cifar10")["programme"]) == whole


def test_dropout_alone_brings_one_too() -> None:
    plan = _request("alexnet", "imagenet")["plan"]
    assert plan["evaluation"]["folded"] == []
    assert plan["logits"] in from_wire(plan["evaluation"]["programme"]).graph.outputs


def test_it_is_evaluated_after_every_epoch_unless_requested_otherwise() -> None:
    assert _request()["plan"]["evaluate_every"] == 30_000
    assert _request(evaluate_every=0)["plan"]["evaluate_every"] == 0


def test_epochs_are_left_to_the_worker_which_knows_how_many_images_there_are() -> None:
    plan = _request(goal="epochs=2.5")["plan"]
    assert (plan["steps"], plan["epochs"]) == (None, 2.5)


@pytest.mark.parametrize("words", ["epochs=1", "steps=938", "accuracy=0.985 within epochs=20"])
def test_a_goal_in_words_is_read_as_it_was_written(words: str) -> None:
    assert Goal.parse(words).words() == words


@pytest.mark.parametrize(
    "changes", [{"steps": 3, "epochs": 1}, {}, {"steps": 0}, {"epochs": -1}, {"steps": 1, "accuracy": 1.5}]
)
def test_a_goal_that_cannot_be_meant_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        Goal(**changes)


@pytest.mark.parametrize("words", ["", "epochs", "epochs=x", "accuracy=0.9", "epochs=nan", "loss=1 within steps=3"])
def test_words_that_are_no_goal_are_refused(words: str) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        Goal.parse(words)


@pytest.mark.parametrize(
    "changes",
    [
        {"epochs": 1.0},
        {"steps": None},
        {"steps": 0},
        {"evaluate_every": -1},
        {"until": 1.5},
        {"until": 0.0},
        {"loading_threads": 0},
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        msgspec.structs.replace(learn_request(_job()).plan, **changes)


@pytest.mark.parametrize(
    "changes", [{"mean": ()}, {"mean": (0.1, 0.2)}, {"std": (0.0,)}, {"crop": 0}, {"crop": 4, "pad": -1}, {"pad": 1}]
)
def test_transforms_that_cannot_be_meant_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        msgspec.structs.replace(GREY, **changes)


def test_a_network_that_does_not_classify_tells_its_losses_and_scalars() -> None:
    request = _request("vae", "mnist")
    assert request["plan"]["logits"] is None
    assert request["plan"]["losses"] == ["loss"]
    assert request["plan"]["scores"] == {"reconstruction": "reconstruction", "divergence": "divergence"}
    assert from_wire(request["programme"]).graph.outputs == ("loss", "reconstruction", "divergence")


def test_each_of_several_losses_is_told() -> None:
    plan = _request("gan", "mnist")["plan"]
    assert set(plan["scores"]) == {"discriminator", "generator", "variety", "variety_of_images"}
    assert plan["losses"] == [plan["scores"][name] for name in ("discriminator", "generator")]


def test_a_network_that_does_not_classify_has_no_accuracy_to_reach() -> None:
    with pytest.raises(NetdynoError, match="network 'vae': expected a goal in epochs or steps, received 'accuracy"):
        _request("vae", "mnist", goal="accuracy=0.9 within steps=20")


def test_without_files_there_is_nothing_to_learn_from() -> None:
    with pytest.raises(NetdynoError, match="expected files to learn from"):
        learn_request(_job(inputs=None))


CURVE = [
    Evaluation(at=5, step=10, train_s=2, wall_s=3, accuracy=0.5, loss=1.0),
    Evaluation(at=9, step=20, train_s=4, wall_s=6, accuracy=0.9, loss=0.5),
]
LEARNED = [FirstStep(at=1, seconds=0.5), *CURVE, Trained(at=9, steps=20, items=40, train_s=4, wall_s=6)]


def _finished(tmp_path: Path, *events: Any, **shares: float) -> Finished:
    logs = (EventLog(events=(*events, Done(at=10)), last=Done(at=10)),)
    ending = Ending(exit_codes=(0,), **shares)
    return Finished(folder=tmp_path, logs=logs, ending=ending, verdict=judge(logs, ending, tmp_path))


def _facts(goal: str) -> RunFacts:
    return RunFacts(
        cell=_job(goal=goal).cell, series=1, number=2, machine="m", target=0.1, graph_digest="g", worker_hash="w"
    )


@pytest.mark.parametrize(
    ("goal", "outcome"),
    [
        ("steps=20", "measured"),
        ("accuracy=0.9 within steps=20", "measured"),
        ("accuracy=0.95 within steps=20", "short of its goal"),
    ],
)
def test_a_run_that_ended_is_compared_with_its_goal(tmp_path: Path, goal: str, outcome: str) -> None:
    record = record_of(_facts(goal), _finished(tmp_path, *LEARNED), "later")
    assert (record.outcome, record.number, record.cell.source) == (outcome, 2, "mnist")
    assert (record.figures["steps"].value, record.figures["train_time"].value) == (20, 4)
    assert [point.accuracy for point in record.curve] == [0.5, 0.9]


def test_a_training_beside_other_work_is_flagged_as_a_timed_run_is(tmp_path: Path) -> None:
    disturbed = _finished(tmp_path, *LEARNED, foreign_share=0.4, stolen_share=0.1)
    assert record_of(_facts("steps=20"), disturbed, "later").flags == ("foreign load", "stolen time")
    assert record_of(_facts("steps=20"), _finished(tmp_path, *LEARNED, foreign_share=0.01), "later").flags == ()
    crowded = replace(_facts("steps=20"), environment={"usable_cores": 2, "physical_cores": 2})
    assert "threads" in record_of(crowded, _finished(tmp_path, *LEARNED), "later").flags[0]


def test_a_record_says_which_data_was_learned(tmp_path: Path) -> None:
    facts = replace(_facts("steps=20"), basis={"train data": "12ab", "test data": "34cd"})
    record = record_of(facts, _finished(tmp_path, *LEARNED), "later")
    assert record.basis == {"train data": "12ab", "test data": "34cd"}


def test_a_record_keeps_what_the_network_drew_or_says_why_there_is_nothing(tmp_path: Path) -> None:
    drawn = Drawn(height=1, width=2, channels=1, made=b"ab", images=b"cd", sees_images=True)
    record = record_of(_facts("steps=20"), _finished(tmp_path, *LEARNED, Pictures(at=9, drawn=drawn)), "later")
    assert record.pictures is not None
    assert (record.pictures.made, record.pictures.images, record.pictures.count) == (b"ab", b"cd", 1)
    failed = _finished(tmp_path, *LEARNED, Pictures(at=9, absent="ValueError: no room"))
    record = record_of(_facts("steps=20"), failed, "later")
    assert (record.outcome, record.pictures, record.absent["pictures"]) == ("measured", None, "ValueError: no room")


def test_a_record_says_what_its_graph_costs(tmp_path: Path) -> None:
    facts = replace(_facts("steps=20"), cost={"batch": 2, "step_flops": 600})
    assert record_of(facts, _finished(tmp_path, *LEARNED), "later").cost == {"batch": 2, "step_flops": 600}


def test_done_without_training_has_failed(tmp_path: Path) -> None:
    record = record_of(_facts("steps=20"), _finished(tmp_path), "later")
    assert (record.outcome, record.reason) == ("failed", "done without training")
    assert record.figures == {}


def test_the_figures_of_a_learning_run(tmp_path: Path) -> None:
    logs = _finished(tmp_path, *LEARNED).logs
    found = learn_figures(_facts("steps=20"), logs, {"energy_j": 7.0})
    assert [(f.name, f.unit, f.better, f.value) for f in found.values()] == [
        ("accuracy", "", "more", 0.9),
        ("train_time", "s", "less", 4),
        ("wall_time", "s", "less", 6),
        ("steps", "steps", "less", 20),
        ("energy", "J", "less", 7.0),
    ]
    assert headline(_facts("steps=20"), found) == "accuracy"
    assert headline(_facts("accuracy=0.9 within steps=20"), found) == "train_time"


def test_the_figures_of_a_run_that_classifies_nothing(tmp_path: Path) -> None:
    last = Evaluation(at=9, step=20, train_s=4, wall_s=6, loss=98.5, scores={"divergence": 25.0, "odd": None})
    logs = _finished(tmp_path, LEARNED[0], last, LEARNED[-1]).logs
    found = learn_figures(_facts("steps=20"), logs, {})
    assert {name: figure.value for name, figure in found.items()} == {
        "loss": 98.5, "divergence": 25.0, "train_time": 4, "wall_time": 6, "steps": 20,
    }  # fmt: skip
    assert headline(_facts("steps=20"), found) == "loss"
