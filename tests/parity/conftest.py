"""Which frameworks are proved here, and the reference that they are proved against."""

import os
import sys
from pathlib import Path

import pytest

from netdyno.frameworks.environments import locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec, specs
from netdyno.graph.wire import from_wire
from netdyno.runtime.worker import Setup
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import SIZES, ProofCase, References

sys.path.insert(0, str(Path(__file__).parents[1] / "worker"))
from small_programs import CASES

THREADS = 2
# For what has no package: NETDYNO_TEST_PYTHONS="NAME=PYTHON:FOLDER_OF_MODULES …" proves it too.
GIVEN = read_given(os.environ.get("NETDYNO_TEST_PYTHONS", "").split())


def candidate_for(spec: Spec, execution: str, precision: str = "float32") -> Candidate:
    """The framework as a candidate; skipped where it is not installed, except in CI."""
    found = locate(spec, GIVEN)
    if found is None:
        message = f"{spec.name} is missing; make it with: netdyno frameworks install {spec.name}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    setup = Setup(device="cpu", precision=precision, execution=execution, threads=THREADS)
    return Candidate(spec=spec, interpreter=found, setup=setup)


def frameworks() -> list[tuple[Spec, str]]:
    """Every framework to be proved, in every way of execution."""
    return [(spec, execution) for spec in proved_specs() for execution in spec.executions]


def proved_specs() -> list[Spec]:
    """Those that have something to install, and those that are given."""
    return [spec for spec in specs().values() if spec.requirements or spec.name in GIVEN]


@pytest.fixture(scope="session")
def prover(tmp_path_factory) -> Prover:
    folder = tmp_path_factory.mktemp("proofs")
    return Prover(
        archive=pack_worker(folder / "workers"),
        python=Path(sys.executable),
        scratch=folder,
        references=References(folder=home() / "references"),
        threads=THREADS,
    )


@pytest.fixture(scope="session")
def cases(prover, tmp_path_factory) -> list[ProofCase]:
    """Every op and optimizer as a small program, with the reference's arrays written."""
    folder = tmp_path_factory.mktemp("reference")
    cases = [
        ProofCase(name=name, programme=from_wire(wire), arrays=folder / f"{number}.npz")
        for number, (name, wire) in enumerate(CASES.items())
    ]
    prover.compute(cases, SIZES)
    return cases
