"""What a worker is asked: plain JSON that holds everything it needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import Spec
from netdyno.graph.lower import lowered
from netdyno.graph.model import Programme
from netdyno.graph.wire import to_wire
from netdyno.harness.events import PROTOCOL
from netdyno.harness.worker_file import worker_hash
from netdyno.results.cell import Cell

SEED = 20180907  # of weights and data: the same in every framework and run, so that only time differs


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSide:
    """How the request is carried out: which adapter, which extra folders hold adapters and modules, which worker."""

    adapter: str
    adapter_path: tuple[str, ...]
    module_path: tuple[str, ...]
    worker_hash: str
    fused: frozenset[str] = frozenset()  # composite ops that the adapter has a kernel for

    def wire(self, programme: Programme) -> dict[str, Any]:
        """The programme as this adapter is given it: composite ops that it does not know are lowered."""
        return to_wire(lowered(programme, self.fused))

    @classmethod
    def of(cls, spec: Spec, interpreter: Interpreter, worker: Path) -> "WorkerSide":
        return cls(
            adapter=spec.adapter,
            adapter_path=(str(spec.worker_path),) if spec.worker_path else (),
            module_path=interpreter.module_path,
            worker_hash=worker_hash(worker),
            fused=fused_ops(spec),
        )


def measure_request(
    cell: Cell, programme: Programme, side: WorkerSide, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Measure one cell."""
    return {
        **_common("measure", side, cell.device, cell.threads),
        "precision": cell.precision,
        "execution": cell.execution,
        "cell": cell.as_dict(),
        "training": side.wire(programme),
        "settings": dict(settings),
    }


def fit_request(cell: Cell, programme: Programme, side: WorkerSide, steps: int) -> dict[str, Any]:
    """Find out whether the cell's batch fits: train so many steps and tell the memory."""
    return {
        **_common("fit", side, cell.device, cell.threads),
        "precision": cell.precision,
        "execution": cell.execution,
        "cell": cell.as_dict(),
        "training": side.wire(programme),
        "steps": steps,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofCase:
    """Gradients on `batches` batches and `steps` updates; the reference writes `arrays`, others compare with it."""

    name: str
    programme: Programme
    arrays: Path
    steps: int = 3
    batches: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofManner:
    """On what and how a proof is made."""

    role: str  # "reference" or "candidate"
    device: str
    precision: str
    execution: str
    threads: int


def prove_request(cases: list[ProofCase], side: WorkerSide, manner: ProofManner) -> dict[str, Any]:
    """Prove several networks in one process."""
    return {
        **_common("prove", side, manner.device, manner.threads),
        "precision": manner.precision,
        "execution": manner.execution,
        "cases": [
            {
                "name": case.name,
                "training": side.wire(case.programme),
                "arrays": str(case.arrays),
                "steps": case.steps,
                "batches": case.batches,
                "role": manner.role,
            }
            for case in cases
        ],
    }


def _common(task: str, side: WorkerSide, device: str, threads: int) -> dict[str, Any]:
    return {
        "protocol": PROTOCOL,
        "task": task,
        "worker": side.worker_hash,
        "adapter": side.adapter,
        "adapter_path": list(side.adapter_path),
        "module_path": list(side.module_path),
        "device": device,
        "threads": threads,
        "seed": SEED,
    }
