"""Which execution of a cell is the fastest? Each is tried in one process before the cell's first run."""

from collections.abc import Callable, Sequence

import msgspec

from netdyno.frameworks.spec import find_spec
from netdyno.graph.model import Programme
from netdyno.protocol.request import ProbeRequest, Request
from netdyno.results.cell import Cell
from netdyno.runtime.task import Finished
from netdyno.runtime.worker import Worker
from netdyno.workloads.probe import Choice, choose, probe_request

Carry = Callable[[Request], Finished]


def find_fastest(
    cell: Cell,
    programme: Programme,
    worker: Worker,
    carry_out: Carry,
    *,
    compile_first: Sequence[str] = (),
    turn: str | None = None,
) -> Choice:
    """Try every execution that the framework has on the cell's device; where several cells are tried at a time, all
    compile side by side and take turns at the file `turn` to be timed."""
    executions = find_spec(cell.framework).executions_on(cell.device)
    request: ProbeRequest = msgspec.structs.replace(
        probe_request(cell, programme, worker, executions), compile=tuple(compile_first), turn=turn
    )
    return choose(carry_out(request).log, executions)
