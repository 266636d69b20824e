"""Compiling ahead: what is chosen, that one that fails spoils nothing, and that Ctrl-C leaves no worker behind."""

import json
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from netdyno.bench.campaign import Campaign, carry_out
from netdyno.bench.cells import Bench
from netdyno.bench.plan import Plan, PlannedRun
from netdyno.bench.search.compile_ahead import cells_to_compile, compile_ahead
from netdyno.bench.settings import Settings
from netdyno.frameworks.environments import Interpreter
from netdyno.results.store import open_store
from netdyno.runtime.folders import RunFolders
from netdyno.runtime.worker_file import pack_worker
from netdyno_worker.tasks.probe import turn

SCRIPTED = Path(__file__).parents[2] / "scripted"


class Silent:
    def started(self, step): ...

    def polled(self): ...

    def ended(self, record): ...


class Counts(Silent):
    """How many cells were started and how many have ended, at every look."""

    def __init__(self):
        self.all = self.done = 0
        self.seen = []

    def started(self, step):
        self.all += 1

    def ended(self, choice):
        self.done += 1

    def polled(self):
        self.seen.append((self.done, self.all))


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.setenv("NETDYNO_SPECS", str(SCRIPTED))
    monkeypatch.setenv("NETDYNO_MEMORY", json.dumps({"images": 5}))
    with open_store(str(tmp_path / "results.db")) as store:
        yield Campaign(
            bench=Bench(threads=1, folder=tmp_path, framework="limited"),
            store=store,
            folders=RunFolders(home=tmp_path, store_name="results.db"),
            settings=Settings(deadline_s=60),
            archive=pack_worker(tmp_path / "workers"),
            interpreters={"limited": Interpreter(path=Path(sys.executable), origin="current")},
            machine="m",
        )


def test_only_first_runs_that_compile_for_a_gpu_are_chosen_each_once(tmp_path):
    bench = Bench(threads=1, folder=tmp_path, framework="pytorch-2")
    lenet = bench.complete({"network": "lenet/mnist", "device": "cuda", "execution": "fastest"})
    alexnet = structs.replace(lenet, network="alexnet", dataset="cifar10", execution="compiled-cudagraph")
    others = (
        structs.replace(lenet, device="cpu"),
        structs.replace(lenet, execution="eager"),
        structs.replace(lenet, framework="jax", execution="compiled"),
    )
    first = [PlannedRun(cell=cell, series=1, number=1) for cell in (lenet, *others, alexnet)]
    also = PlannedRun(cell=structs.replace(lenet, execution="compiled"), series=1, number=1)
    later = PlannedRun(cell=structs.replace(lenet, batch=7), series=1, number=2)
    chosen = cells_to_compile(Plan(runs=(*first, also, later), finished=1))
    assert chosen == [lenet, alexnet]
    assert cells_to_compile(Plan(runs=(first[0], also), finished=0)) == []  # alone, nothing is won


def test_what_does_not_fit_spoils_nothing(campaign):
    cells = [campaign.bench.complete({"network": "lenet/mnist", "batch": batch}) for batch in (4, 6, 5)]
    counts = Counts()
    assert compile_ahead(cells, campaign, counts) == {}
    assert counts.seen[-1] == (3, 3)
    assert list(campaign.store.records()) == []


def test_cells_that_want_their_fastest_execution_are_looked_at_but_not_believed_where_memory_ran_out(campaign):
    wanted = [{"network": "lenet/mnist", "batch": batch, "execution": "fastest"} for batch in (4, 6, 5)]
    small, large, middle = (campaign.bench.complete(fields) for fields in wanted)
    found = compile_ahead([small, large, middle], campaign, Counts())
    assert found.keys() == {small, middle}
    assert found[small].execution == "eager"
    assert found[small].seconds_per_step["eager"] > 0
    plan = Plan(runs=(PlannedRun(cell=small, series=1, number=1),), finished=0)
    (record,) = carry_out(plan, replace(campaign, choices=found, settings=Settings(seconds=0.1)), Silent())
    assert record.settings["looked_at"] == found[small].seconds_per_step  # and not looked at again


def test_looks_compile_together_and_are_timed_one_at_a_time_when_none_compiles(tmp_path):
    path, told, all_here = str(tmp_path / "turn.lock"), [], threading.Barrier(4)

    def look():
        with turn(path, alone=False):
            all_here.wait(timeout=10)  # passed only if all may be inside
            told.append("compiled")
        with turn(path, alone=True):
            told.append("in")
            time.sleep(0.05)
            told.append("out")

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["compiled"] * 4 + ["in", "out"] * 4


def test_ctrl_c_ends_what_was_started(campaign, monkeypatch):
    monkeypatch.setenv("NETDYNO_MEMORY", json.dumps({"images": 5, "then": "hang"}))

    class Impatient(Counts):
        def polled(self):
            if _workers(campaign):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_ahead([campaign.bench.complete({"network": "lenet/mnist", "batch": 8})], campaign, Impatient())
    assert _workers(campaign) == []


def _workers(campaign):
    named = psutil.process_iter(["cmdline"])
    return [process for process in named if str(campaign.archive) in (process.info["cmdline"] or [])]
