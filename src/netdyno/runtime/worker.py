"""Who carries out a request: an interpreter, the packed worker and a framework's adapter; and in which setup."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from netdyno.devices.instructions import maker_variables
from netdyno.devices.variables import computing_variables
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import Spec
from netdyno.graph.lower import composite_forms, lowered
from netdyno.graph.model import Programme
from netdyno.graph.wire import to_wire
from netdyno.results.cell import Cell
from netdyno.runtime.worker_file import worker_hash

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """`python` runs the packed `archive`, or another language's `program`."""

    python: Path
    archive: Path
    adapter: str
    adapter_path: tuple[str, ...] = ()
    module_path: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)  # of its environment, as the framework needs them
    program: Path | None = None
    fused: frozenset[str] = frozenset()  # composite ops that the adapter has a kernel for

    @classmethod
    def of(cls, spec: Spec, interpreter: Interpreter, archive: Path) -> "Worker":
        return cls(
            python=interpreter.path,
            archive=archive,
            adapter=spec.adapter,
            adapter_path=(str(spec.worker_path),) if spec.worker_path else (),
            module_path=interpreter.module_path,
            variables=spec.variables,
            program=spec.program,
            fused=fused_ops(spec),
        )

    def wire(self, programme: Programme) -> dict[str, Any]:
        """The programme as this adapter is given it: composite ops without a kernel of their own are lowered."""
        return to_wire(lowered(programme, self.fused))

    def composites(self, programme: Programme) -> dict[str, str]:
        """Which composite ops of the programme its kernels compute, and which are lowered."""
        return composite_forms(programme, self.fused)

    @property
    def hash(self) -> str:
        return worker_hash(self.archive)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """On what and how a worker computes."""

    device: str
    precision: str
    execution: str
    threads: int

    @classmethod
    def of(cls, cell: Cell) -> "Setup":
        return cls(device=cell.device, precision=cell.precision, execution=cell.execution, threads=cell.threads)


class RequestFields(TypedDict):
    """The fields that every request has."""

    worker: str
    adapter: str
    adapter_path: tuple[str, ...]
    module_path: tuple[str, ...]
    device: str
    precision: str
    execution: str
    threads: int


def request_fields(worker: Worker, setup: Setup) -> RequestFields:
    """What a request says of who carries it out, and how."""
    return RequestFields(
        worker=worker.hash,
        adapter=worker.adapter,
        adapter_path=worker.adapter_path,
        module_path=worker.module_path,
        device=setup.device,
        precision=setup.precision,
        execution=setup.execution,
        threads=setup.threads,
    )


def worker_variables(threads: int) -> Mapping[str, str]:
    """What numerical libraries are given in every framework: the number of threads, the CPU's maker, an order of
    GPUs."""
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}  # as the monitor counts
    return {**dict.fromkeys(THREAD_VARIABLES, str(threads)), **maker_variables(), **order}


def inherited_variables(spec: Spec) -> dict[str, str]:
    """The user's environment variables that a worker of the framework obeys, without those that netdyno sets."""
    own = {**worker_variables(threads=1), **spec.variables}
    return {name: value for name, value in computing_variables(spec.heeds).items() if name not in own}
