"""Does every framework learn the same from files as the reference, with evaluations in between?

The network has batch norms, so each evaluation builds another graph beside the one that is trained.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packing import pack

from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.graph.model import Draw, Programme
from netdyno.harness.launch import Command, launch
from netdyno.harness.request import ProofManner, WorkerSide
from netdyno.harness.train_request import TrainingPlan, Transforms, train_request
from netdyno.harness.verify import Candidate, Prover
from netdyno.harness.watch import tail, watch
from netdyno.results.cell import Cell
from netdyno.zoo.builder import Net
from tests.parity.conftest import candidate_for, frameworks

BATCH, SIDE, STEPS = 8, 10, 12
RULE = Transforms(mean=(0.5, 0.4, 0.3), std=(0.25, 0.25, 0.25), crop=SIDE - 2, pad=1, flip=True)
TOLERANCE = 1e-3  # of losses: rounding, grown over a few steps


def _network() -> Programme:
    """A norm that follows a convolution, and one that does not."""
    net = Net(batch=BATCH, classes=3, learning_rate=0.01)
    x = net.input("images", (BATCH, 3, SIDE - 2, SIDE - 2), Draw(kind="normal"), kind="image")
    x = net.tanh(net.batch_norm(net.convolution(x, 8, 3, pad=1, bias=False)))
    x = net.batch_norm(net.mean_pool(x, 2, 2))
    return net.programme(net.classifier(net.flatten(x)))


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Noise with a bright row, whose place is the class."""
    folder, state = tmp_path_factory.mktemp("packed"), np.random.RandomState(4)
    for split, count in (("train", 100), ("test", 21)):
        labels = state.randint(0, 3, size=count)
        images = state.randint(0, 150, size=(count, SIDE, SIDE, 3))
        images[np.arange(count), 3 + labels] += 100
        pack(str(folder / f"{split}.packed"), images, labels)
    return folder


@pytest.fixture(scope="session")
def expected(prover: Prover, files: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    manner = ProofManner(role="reference", device="cpu", precision="float32", execution="eager", threads=1)
    own = Interpreter(path=Path(sys.executable), origin="current")
    oracle = Candidate(spec=find_spec("reference"), interpreter=own, manner=manner)
    return _curve(oracle, prover.worker, files, tmp_path_factory.mktemp("reference"))


@pytest.mark.parametrize(("spec", "execution"), frameworks(), ids=lambda part: getattr(part, "name", part))
def test_a_framework_learns_from_files_what_the_reference_does(
    spec: Any, execution: str, prover: Prover, files: Path, expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = _curve(candidate_for(spec, execution), prover.worker, files, tmp_path)
    assert [point["step"] for point in found] == [5, 10, 12]
    np.testing.assert_allclose([p["loss"] for p in found], [p["loss"] for p in expected], rtol=TOLERANCE)


def _curve(candidate: Candidate, worker: Path, files: Path, folder: Path) -> list[dict[str, Any]]:
    """The evaluations of a short training."""
    plan = TrainingPlan(
        train=files / "train.packed",
        test=files / "test.packed",
        transforms=RULE,
        steps=STEPS,
        evaluate_every=5,
        loading_threads=2,
    )
    side = WorkerSide.of(candidate.spec, candidate.interpreter, worker)
    request = train_request(_cell(candidate), _network(), side, plan)
    (folder / "request.json").write_text(json.dumps(request))
    command = Command(
        python=candidate.interpreter.path,
        worker=worker,
        folder=folder,
        threads=candidate.manner.threads,
        variables=candidate.spec.variables,
        program=candidate.spec.program,
    )
    watch(launch(command), 300.0, lambda: None)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert events[-1]["event"] == "done", events[-1].get("reason") or tail(folder / "stderr.log")
    return [event for event in events if event["event"] == "evaluation"]


def _cell(candidate: Candidate) -> Cell:
    return Cell(
        network="small",
        dataset="rows",
        framework=candidate.spec.name,
        device="cpu",
        batch=BATCH,
        precision="float32",
        execution=candidate.manner.execution,
        data="packed",
        threads=candidate.manner.threads,
    )
