"""Compile ahead: several cells at a time before the first run, because compiling can take longer than measuring.

Only for frameworks that keep on disk what they compiled: their runs find it there. Of cells that want their fastest
execution, each is tried meanwhile: all compile side by side, then are timed one at a time. A cell that fails is not
reported: its own run will meet the same and say so.
"""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from msgspec.structs import replace

from netdyno.bench.campaign import Campaign
from netdyno.bench.cells import FASTEST
from netdyno.bench.plan import Plan
from netdyno.bench.search.fastest import find_fastest
from netdyno.bench.search.largest_batch import try_batch
from netdyno.frameworks.spec import find_spec
from netdyno.results.cell import Cell
from netdyno.results.limit import speaks_of_memory
from netdyno.runtime.observer import Observer, Step
from netdyno.runtime.task import scratch_folder
from netdyno.workloads.probe import Choice

COMPILED = "compiled"  # how the names of executions begin that compile; what one compiles serves the others
POLL_S = 0.25


class _Stopped(Exception):
    """Raised in a thread that watches a worker, so that it ends the worker."""


def cells_to_compile(plan: Plan) -> list[Cell]:
    """What is planned for the first time and will be compiled, each once; none where there is only one."""
    distinct: dict[Cell, Cell] = {}
    for run in plan.runs:
        if run.number == 1 and _compiles(run.cell):
            distinct.setdefault(replace(run.cell, execution="compiled"), run.cell)
    return list(distinct.values()) if len(distinct) > 1 else []


def compile_ahead(cells: Iterable[Cell], campaign: Campaign, observer: Observer[Choice | None]) -> dict[Cell, Choice]:
    """Let each cell make a few steps, several cells at a time; the executions that were found fastest on the way."""
    stop = threading.Event()

    def stop_if_requested() -> None:
        if stop.is_set():
            raise _Stopped

    ordered = sorted(cells, key=lambda cell: _size(cell, campaign), reverse=True)  # or the largest would end alone
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        futures = {}
        for place, cell in enumerate(ordered):
            observer.started(Step(cell=cell, number=1, left=len(ordered) - place))
            futures[cell] = pool.submit(_compile, cell, campaign, stop_if_requested)
        try:
            _follow(set(futures.values()), observer)
        except BaseException:  # Ctrl-C reaches this thread only
            stop.set()
            for future in futures.values():
                future.cancel()
            raise
        found = {cell: future.result() for cell, future in futures.items()}
    return {cell: choice for cell, choice in found.items() if choice and _undisturbed(choice)}


def _compile(cell: Cell, campaign: Campaign, on_poll: Callable[[], None]) -> Choice | None:
    """What is found to be fastest, where that is wanted."""
    if cell.execution != FASTEST:
        try_batch(cell, campaign, on_poll)
        return None
    scratch = campaign.folders.scratch()
    executions = find_spec(cell.framework).executions_on(cell.device)
    with scratch_folder(scratch, "probe") as folder:
        return find_fastest(
            cell,
            campaign.bench.programme(cell),
            campaign.worker(cell),
            lambda request: campaign.task(cell, request, folder).run(on_poll),
            compile_first=[execution for execution in executions if execution.startswith(COMPILED)][:1],
            turn=str(scratch / "turn.lock"),
        )


def _undisturbed(choice: Choice) -> bool:
    """Where memory ran out, another cell may have had it: the cell's first run tries again, alone."""
    return bool(choice.seconds_per_step) and not any(speaks_of_memory(why) for why in choice.absent.values())


def _follow(futures: set[Future[Choice | None]], observer: Observer[Choice | None]) -> None:
    while futures:
        done, futures = wait(futures, timeout=POLL_S)
        for future in done:
            observer.ended(future.result())
        observer.polled()


def _size(cell: Cell, campaign: Campaign) -> int:
    return len(campaign.bench.programme(cell).graph.nodes)


def _compiles(cell: Cell) -> bool:
    return (
        cell.device == "cuda"
        and find_spec(cell.framework).keeps_compiled
        and (cell.execution == FASTEST or cell.execution.startswith(COMPILED))
    )
