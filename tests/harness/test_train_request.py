"""Is a worker asked to train what was planned, and is a plan that cannot be meant refused?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.wire import from_wire
from netdyno.harness.request import WorkerSide
from netdyno.harness.train_request import TrainingPlan, Transforms, train_request
from netdyno.results.cell import Cell
from netdyno.zoo.catalog import find_entry, resolve

FUSED = frozenset({"global_mean_pool", "local_response_norm"})
SIDE = WorkerSide(adapter="reference", adapter_path=(), module_path=(), worker_hash="abc", fused=FUSED)
GREY = Transforms(mean=(0.13,), std=(0.31,))


def _plan(**changes: Any) -> TrainingPlan:
    given: dict[str, Any] = {
        "train": Path("/data/train.packed"),
        "test": Path("/data/test.packed"),
        "transforms": GREY,
    }
    return TrainingPlan(**{**given, "steps": 938, **changes})


def _request(network: str = "lenet", dataset: str | None = None, **changes: Any) -> dict[str, Any]:
    entry = find_entry(network, dataset)
    cell = Cell(
        network=network,
        dataset=entry.dataset,
        framework="reference",
        device="cpu",
        batch=2,
        precision="float32",
        execution="eager",
        data="packed",
        threads=3,
    )
    return train_request(cell, resolve(entry, 2), SIDE, _plan(**changes))


def test_a_plan_crosses_as_json_with_everything_in_it() -> None:
    request = json.loads(json.dumps(_request(evaluate_every=100, until=0.985, seed=4)))
    assert (request["task"], request["seed"], request["cell"]["data"]) == ("train", 4, "packed")
    assert request["plan"] == {
        "train": "/data/train.packed",
        "test": "/data/test.packed",
        "transforms": {"mean": [0.13], "std": [0.31], "crop": None, "pad": 0, "flip": False},
        "steps": 938,
        "epochs": None,
        "evaluate_every": 100,
        "until": 0.985,
        "loading_threads": 3,
        "logits": "fc5",
        "evaluation": None,
    }


def test_batch_norms_bring_a_graph_for_evaluation_and_say_where_it_comes_from() -> None:
    evaluation = _request("resnet50", "cifar10")["plan"]["evaluation"]
    graph = from_wire(evaluation["training"]).graph
    known = {parameter.name for parameter in graph.parameters}
    assert {row["weight"] for row in evaluation["folded"]} <= known
    assert len(evaluation["folded"]) == 53
    assert from_wire(_request("resnet50", "cifar10")["training"]) == resolve(find_entry("resnet50", "cifar10"), 2)


def test_dropout_alone_brings_one_too() -> None:
    plan = _request("alexnet", "imagenet")["plan"]
    assert plan["evaluation"]["folded"] == []
    assert plan["logits"] in from_wire(plan["evaluation"]["training"]).graph.outputs


def test_as_many_threads_load_as_are_asked_for() -> None:
    assert _request(loading_threads=7)["plan"]["loading_threads"] == 7


def test_epochs_are_left_to_the_worker_which_knows_how_many_images_there_are() -> None:
    plan = _request(steps=None, epochs=2.5)["plan"]
    assert (plan["steps"], plan["epochs"]) == (None, 2.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"epochs": 1},
        {"steps": None},
        {"steps": 0},
        {"evaluate_every": -1},
        {"until": 1.5},
        {"until": 0.0},
        {"seed": -1},
        {"loading_threads": 0},
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        _plan(**changes)


@pytest.mark.parametrize(
    "changes", [{"mean": ()}, {"mean": (0.1, 0.2)}, {"std": (0.0,)}, {"crop": 0}, {"crop": 4, "pad": -1}, {"pad": 1}]
)
def test_transforms_that_cannot_be_meant_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError, match="expected"):
        replace(GREY, **changes)


def test_a_network_that_does_not_classify_has_no_accuracy() -> None:
    programme = resolve(find_entry("lenet"), 2)
    blind = replace(programme, graph=replace(programme.graph, outputs=("tanh1",)))
    cell = Cell(**{**_request()["cell"], "threads": 1})
    with pytest.raises(NetdynoError, match="logits as the first output"):
        train_request(cell, blind, SIDE, _plan())
