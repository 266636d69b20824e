"""Does every framework learn the same from files as the reference, with evaluations in between?

The network has batch norms, so each evaluation builds another graph beside the one that is trained.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packing import pack

from netdyno.bench.settings import Settings
from netdyno.data.item import About
from netdyno.data.packing import Ready
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.graph.model import Draw, Programme
from netdyno.protocol.events import Evaluation
from netdyno.protocol.request import Transforms
from netdyno.results.cell import Cell
from netdyno.runtime.task import Task
from netdyno.runtime.worker import Setup, Worker
from netdyno.workloads.inputs import InputFiles
from netdyno.workloads.learn import learn_request
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.workload import Job
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
def expected(prover: Prover, files: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Evaluation]:
    setup = Setup(device="cpu", precision="float32", execution="eager", threads=1)
    own = Interpreter(path=Path(sys.executable), origin="current")
    oracle = Candidate(spec=find_spec("reference"), interpreter=own, setup=setup)
    return _curve(oracle, prover.archive, files, tmp_path_factory.mktemp("reference"))


@pytest.mark.parametrize(("spec", "execution"), frameworks(), ids=lambda part: getattr(part, "name", part))
def test_a_framework_learns_from_files_what_the_reference_does(
    spec: Any, execution: str, prover: Prover, files: Path, expected: list[Evaluation], tmp_path: Path
) -> None:
    found = _curve(candidate_for(spec, execution), prover.archive, files, tmp_path)
    assert [point.step for point in found] == [5, 10, 12]
    np.testing.assert_allclose([p.loss for p in found], [p.loss for p in expected], rtol=TOLERANCE)


def _curve(candidate: Candidate, archive: Path, files: Path, folder: Path) -> list[Evaluation]:
    """The evaluations of a short training."""
    worker = Worker.of(candidate.spec, candidate.interpreter, archive)
    about = About(count=100, classes=("a", "b", "c"), shape=(SIDE, SIDE, 3))
    ready = Ready(source="rows", format="packed", folder=files, about=about)
    job = Job(
        cell=_cell(candidate),
        number=0,
        programme=_network(),
        worker=worker,
        timing=Settings().timing("cpu"),
        inputs=InputFiles(ready=ready, transforms=RULE),
        evaluate_every=5,
    )
    finished = Task(worker=worker, request=learn_request(job), folder=folder, deadline_s=300.0).run()
    assert finished.verdict.outcome == "done", finished.verdict
    return finished.log.all(Evaluation)


def _cell(candidate: Candidate) -> Cell:
    return Cell(
        workload="learn",
        network="small",
        dataset="rows",
        goal=f"steps={STEPS}",
        source="rows",
        framework=candidate.spec.name,
        device="cpu",
        batch=BATCH,
        precision="float32",
        execution=candidate.setup.execution,
        data="packed",
        threads=candidate.setup.threads,
    )
