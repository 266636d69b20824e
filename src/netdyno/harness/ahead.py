"""Compile ahead: several cells at a time before the first run, because compiling can take longer than measuring.

Only for frameworks that keep on disk what they compiled: their runs find it there. Nothing is timed here, and a cell
that fails is not told of either: its own run will meet the same and say so.
"""

import os
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Protocol

from netdyno.frameworks.spec import find_spec
from netdyno.harness.complete import FASTEST
from netdyno.harness.fit import Fit, try_batch
from netdyno.harness.plan import Plan
from netdyno.harness.run import Campaign
from netdyno.results.cell import Cell

CORES_EACH = 4  # a compiler starts processes of its own
POLL_S = 0.25


class Follower(Protocol):
    """Who is told how many are done."""

    def compiled(self, done: int, of: int) -> None: ...


class _Stopped(Exception):
    """Raised in a thread that watches a worker, so that it ends the worker."""


def cells_to_compile(plan: Plan) -> list[Cell]:
    """What is planned for the first time and will be compiled, each once; none where there is but one."""
    cells = [_compiled(run.cell) for run in plan.runs if run.number == 1 and _compiles(run.cell)]
    return list(dict.fromkeys(cells)) if len(set(cells)) > 1 else []


def compile_ahead(cells: Iterable[Cell], campaign: Campaign, follower: Follower) -> list[Fit]:
    """Let each cell make a few steps, several cells at a time; what they came to, in the order of the cells."""
    stop = threading.Event()

    def stop_if_told() -> None:
        if stop.is_set():
            raise _Stopped

    with ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 1) // CORES_EACH)) as pool:
        futures = [pool.submit(try_batch, cell, campaign, stop_if_told) for cell in cells]
        try:
            _follow(futures, follower)
        except BaseException:  # Ctrl-C reaches this thread only
            stop.set()
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]


def _follow(futures: list[Future[Fit]], follower: Follower) -> None:
    while True:
        done, rest = wait(futures, timeout=POLL_S)
        follower.compiled(len(done), len(futures))
        if not rest:
            return


def _compiles(cell: Cell) -> bool:
    return (
        cell.device == "cuda"
        and find_spec(cell.framework).keeps_compiled
        and (cell.execution == FASTEST or cell.execution.startswith("compiled"))
    )


def _compiled(cell: Cell) -> Cell:
    return replace(cell, execution="compiled")
