"""Compile ahead: several cells at a time before the first run, because compiling can take longer than measuring.

Only for frameworks that keep on disk what they compiled: their runs find it there. Cells that want their fastest
execution are looked at meanwhile: all compile side by side, then are timed one at a time. Of a cell that fails
nothing is told: its own run will meet the same and say so.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from netdyno.frameworks.spec import find_spec
from netdyno.harness.complete import FASTEST
from netdyno.harness.fastest import Choice, look, probe_request
from netdyno.harness.fit import try_batch
from netdyno.harness.plan import Plan
from netdyno.harness.request import measure_request
from netdyno.harness.run import Campaign
from netdyno.results.cell import Cell
from netdyno.results.limit import speaks_of_memory

COMPILED = "compiled"  # how the names of executions begin that compile; what one compiles serves the others
POLL_S = 0.25


class Follower(Protocol):
    """Who is told how many are done."""

    def compiled(self, done: int, of: int) -> None: ...


class _Stopped(Exception):
    """Raised in a thread that watches a worker, so that it ends the worker."""


def cells_to_compile(plan: Plan) -> list[Cell]:
    """What is planned for the first time and will be compiled, each once; none where there is but one."""
    distinct: dict[Cell, Cell] = {}
    for run in plan.runs:
        if run.number == 1 and _compiles(run.cell):
            distinct.setdefault(replace(run.cell, execution="compiled"), run.cell)
    return list(distinct.values()) if len(distinct) > 1 else []


def compile_ahead(cells: Iterable[Cell], campaign: Campaign, follower: Follower) -> dict[Cell, Choice]:
    """Let each cell make a few steps, several cells at a time; the executions that were found fastest on the way."""
    stop = threading.Event()

    def stop_if_told() -> None:
        if stop.is_set():
            raise _Stopped

    ordered = sorted(cells, key=lambda cell: _size(cell, campaign), reverse=True)  # or the largest would end alone
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        futures = {cell: pool.submit(_compile, cell, campaign, stop_if_told) for cell in ordered}
        try:
            _follow(list(futures.values()), follower)
        except BaseException:  # Ctrl-C reaches this thread only
            stop.set()
            for future in futures.values():
                future.cancel()
            raise
        found = {cell: future.result() for cell, future in futures.items()}
    return {cell: choice for cell, choice in found.items() if choice and _undisturbed(choice)}


def _compile(cell: Cell, campaign: Campaign, on_poll: Callable[[], None]) -> Choice | None:
    """What is found to be fastest, where that is asked."""
    if cell.execution != FASTEST:
        try_batch(cell, campaign, on_poll)
        return None
    scratch = campaign.folders.scratch()
    request = measure_request(cell, campaign.bench.training(cell), campaign.side(cell), {})
    executions = list(find_spec(cell.framework).executions_on(cell.device))
    with tempfile.TemporaryDirectory(dir=scratch, prefix="look-") as name:
        compiled = [execution for execution in executions if execution.startswith(COMPILED)][:1]
        asked = probe_request(request, executions) | {"compile": compiled, "turn": str(scratch / "turn.lock")}
        return look(campaign.command(cell, Path(name)), asked, campaign.settings.deadline_s, on_poll)


def _undisturbed(choice: Choice) -> bool:
    """Where memory ran out, another cell's look may have had it: the cell's first run looks again, alone."""
    return bool(choice.seconds_per_step) and not any(speaks_of_memory(why) for why in choice.absent.values())


def _follow(futures: list[Future[Choice | None]], follower: Follower) -> None:
    while True:
        done, rest = wait(futures, timeout=POLL_S)
        follower.compiled(len(done), len(futures))
        if not rest:
            return


def _size(cell: Cell, campaign: Campaign) -> int:
    return len(campaign.bench.training(cell).graph.nodes)


def _compiles(cell: Cell) -> bool:
    return (
        cell.device == "cuda"
        and find_spec(cell.framework).keeps_compiled
        and (cell.execution == FASTEST or cell.execution.startswith(COMPILED))
    )
