"""What a worker is asked that trains on real data: which files, how they are transformed, when it is enough."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.evaluation import evaluation_of, needs_other_graph
from netdyno.graph.model import Programme
from netdyno.harness.request import SEED, WorkerSide, measure_request
from netdyno.results.cell import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Transforms:
    """What is done to images of 0..1: `crop` cuts squares of that side, in training at random from images with `pad`
    black pixels around, in evaluation from the centre; `flip` mirrors half of the training images."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    crop: int | None = None
    pad: int = 0
    flip: bool = False

    def __post_init__(self) -> None:
        _expect(
            len(self.mean) == len(self.std) > 0, "mean and std", "a number for each channel", (self.mean, self.std)
        )
        _expect(all(value > 0 for value in self.std), "std", "numbers over 0", self.std)
        _expect(self.crop is None or self.crop > 0, "crop", "a side over 0", self.crop)
        _expect(self.pad >= 0, "pad", "0 or more", self.pad)
        _expect(self.crop is not None or self.pad == 0, "pad", "0 where nothing is cropped", self.pad)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """Train on one packed file and evaluate on another, for so many `steps` or `epochs`, or `until` an accuracy."""

    train: Path
    test: Path
    transforms: Transforms
    steps: int | None = None
    epochs: float | None = None
    evaluate_every: int = 0  # steps; 0: at the end only
    until: float | None = None  # the accuracy on the test split that ends training earlier
    seed: int = SEED  # of weights, order and transforms
    loading_threads: int | None = None  # as many as compute, unless said

    def __post_init__(self) -> None:
        lengths = [length for length in (self.steps, self.epochs) if length is not None]
        _expect(len(lengths) == 1, "a training", "either steps or epochs", f"{self.steps} and {self.epochs}")
        _expect(lengths[0] > 0, "steps or epochs", "a number over 0", lengths[0])
        _expect(self.evaluate_every >= 0, "evaluate_every", "0 or more steps", self.evaluate_every)
        _expect(self.until is None or 0 < self.until <= 1, "until", "an accuracy in (0, 1]", self.until)
        _expect(self.seed >= 0, "seed", "0 or more", self.seed)
        _expect(self.loading_threads is None or self.loading_threads > 0, "loading_threads", "1 or more", 0)


def train_request(cell: Cell, programme: Programme, side: WorkerSide, plan: TrainingPlan) -> dict[str, Any]:
    """Train one cell's network on real data."""
    _expect_classifier(cell, programme)
    asked = measure_request(cell, programme, side, {})
    del asked["settings"]
    return {**asked, "task": "train", "seed": plan.seed, "plan": _plan(cell, programme, side, plan)}


def _plan(cell: Cell, programme: Programme, side: WorkerSide, plan: TrainingPlan) -> dict[str, Any]:
    evaluation = evaluation_of(programme) if needs_other_graph(programme) else None
    answering = evaluation.programme if evaluation else programme
    return {
        "train": str(plan.train.resolve()),
        "test": str(plan.test.resolve()),
        "transforms": {
            **asdict(plan.transforms),
            "mean": list(plan.transforms.mean),
            "std": list(plan.transforms.std),
        },
        "steps": plan.steps,
        "epochs": plan.epochs,
        "evaluate_every": plan.evaluate_every,
        "until": plan.until,
        "loading_threads": plan.loading_threads or cell.threads,
        "logits": answering.graph.outputs[0],
        "evaluation": evaluation
        and {"training": side.wire(evaluation.programme), "folded": [asdict(row) for row in evaluation.folded]},
    }


def _expect_classifier(cell: Cell, programme: Programme) -> None:
    """Accuracy means something where the first output is compared with labels by a cross-entropy."""
    outputs, nodes = programme.graph.outputs, programme.graph.nodes
    compared = {node.inputs[0] for node in nodes if node.op == "softmax_cross_entropy"}
    found = bool(outputs) and outputs[0] in compared
    _expect(found, f"network '{cell.network}'", "logits as the first output, to have an accuracy", list(outputs))


def _expect(holds: bool, where: str, expected: str, received: object) -> None:
    if not holds:
        raise NetdynoError(f"{where}: expected {expected}, received {received}.")
