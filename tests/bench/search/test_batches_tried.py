"""Batches are tried in fresh processes; what is not about memory ends a search, and nothing learned is lost."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from netdyno.bench.campaign import Campaign
from netdyno.bench.cells import Bench
from netdyno.bench.search.largest_batch import SearchOptions, largest_batch, largest_batch_cell, try_batch
from netdyno.bench.settings import Settings
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Interpreter
from netdyno.results.store import open_store
from netdyno.runtime import watch
from netdyno.runtime.cpu_load import read_cpu_load
from netdyno.runtime.folders import RunFolders
from netdyno.runtime.worker_file import pack_worker

SCRIPTED = Path(__file__).parents[2] / "scripted"


class Notes:
    """An observer that writes everything down."""

    def __init__(self):
        self.tries = []

    def started(self, step):
        self.tries.append(step.cell.batch)

    def polled(self):
        pass

    def ended(self, fit):
        self.fit = fit


@pytest.fixture
def notes():
    return Notes()


@pytest.fixture
def memory(monkeypatch):
    monkeypatch.setenv("NETDYNO_SPECS", str(SCRIPTED))

    def has(**what):
        monkeypatch.setenv("NETDYNO_MEMORY", json.dumps(what))

    return has


@pytest.fixture
def campaign(tmp_path, memory):
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


def _cell(campaign, batch=4):
    return campaign.bench.complete({"network": "lenet/mnist", "batch": batch})


def test_processes_find_exactly_the_limit_and_the_store_keeps_it(campaign, memory, notes):
    memory(images=5)
    cell = largest_batch_cell(_cell(campaign), campaign, notes)
    assert (cell.batch, notes.tries) == (5, [4, 8, 6, 5])
    limit = campaign.store.find_limit("m", structs.replace(cell, batch=1).key())
    assert (limit.fits, limit.fails) == (5, 6)
    assert limit.reason == "MemoryError: Tried to allocate 2.50 GiB"
    assert all(word in limit.versions for word in ("limited 1", "python 3", "worker ", "graph "))
    assert list((campaign.folders.home / "scratch").iterdir()) == []


def test_a_known_limit_is_confirmed_unless_it_is_to_be_proved_again(campaign, memory, notes):
    memory(images=5)
    largest_batch(_cell(campaign), campaign, Notes())
    assert largest_batch_cell(_cell(campaign), campaign, notes).batch == 5
    assert notes.tries == [5]
    memory(images=6)
    assert largest_batch_cell(_cell(campaign), campaign, notes, SearchOptions(again=True)).batch == 6
    memory(images=6, version="2")
    notes.tries.clear()
    assert largest_batch_cell(_cell(campaign), campaign, notes).batch == 6
    assert notes.tries == [6, 7]


def test_a_try_tells_what_was_asked_for_and_how_much_a_batch_takes(campaign, memory):
    memory(images=4)
    small, large = (try_batch(_cell(campaign, batch), campaign, lambda: None) for batch in (4, 5))
    assert (small.fits, small.outcome, small.reason, small.asked_bytes) == (True, "fits", "", None)
    assert small.peak_bytes > 2**20
    assert (large.fits, large.outcome, large.asked_bytes) == (False, "out of memory", 5 * 2**29)


def test_a_kill_by_the_kernel_does_not_fit(campaign, memory, notes, monkeypatch):
    memory(images=4, then="killed")
    loads = iter(range(10**6))
    monkeypatch.setattr(watch, "read_cpu_load", lambda: replace(read_cpu_load(), out_of_memory_kills=next(loads)))
    limit = largest_batch(_cell(campaign, 2), campaign, notes)
    assert (limit.fits, limit.fails) == (4, 5)
    assert limit.reason == "killed by the kernel for want of host memory"


def test_a_crash_that_speaks_of_memory_does_not_fit_if_something_smaller_did(campaign, memory, notes):
    memory(images=5, then="give up")
    limit = largest_batch(_cell(campaign), campaign, notes)
    assert (limit.fits, limit.fails) == (5, 6)
    assert limit.reason.startswith("terminate called: cudaMalloc failed: out of memory (ended by SIGABRT")


def test_the_same_crash_stops_the_search_if_nothing_smaller_fitted(campaign, memory, notes):
    memory(images=3, then="give up")
    with pytest.raises(NetdynoError, match=r"stopped at 4: crashed: .*out of memory"):
        largest_batch(_cell(campaign), campaign, notes)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("crash", "crashed: ended by SIGSEGV"),
        ("killed", "crashed: ended by SIGKILL"),
        ("raise", "failed: ValueError: expected a good day"),
        ("cannot", "unsupported: not on a Sunday"),
        ("garbage", "failed: the worker broke its protocol"),
        ("hang", "timed out: no last word before the deadline"),
    ],
)
def test_what_is_not_about_memory_stops_the_search_and_what_was_learned_is_kept(campaign, memory, then, said):
    memory(images=5, then=then)
    quick = replace(campaign, settings=Settings(deadline_s=5 if then == "hang" else 60))
    with pytest.raises(NetdynoError, match=f"lenet/mnist limited eager float32: .* stopped at 8: {said}") as caught:
        largest_batch(_cell(campaign), quick, Notes())
    assert caught.value.hint == "The largest that fitted is 4: measure it with --batch 4."
    assert campaign.store.find_limit("m", _cell(campaign, 1).key()).fits == 4


def test_ctrl_c_ends_the_worker_and_the_next_search_goes_on(campaign, memory, notes):
    class Impatient(Notes):
        def started(self, step):
            super().started(step)
            memory(images=5, **({"then": "hang"} if step.cell.batch == 6 else {}))

        def polled(self):
            if self.tries[-1] == 6:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        largest_batch(_cell(campaign), campaign, Impatient())
    assert [process for process in psutil.process_iter(["cmdline"]) if _runs(process, campaign.archive)] == []
    assert list((campaign.folders.home / "scratch").iterdir()) == []
    limit = campaign.store.find_limit("m", _cell(campaign, 1).key())
    assert (limit.fits, limit.fails) == (4, 8)
    memory(images=5)
    assert largest_batch(_cell(campaign), campaign, notes).fits == 5
    assert notes.tries == [4, 6, 5]


def test_fastest_names_no_execution_to_search_with(campaign, notes):
    with pytest.raises(NetdynoError, match=r"expected one execution.*received 'fastest'"):
        largest_batch(structs.replace(_cell(campaign), execution="fastest"), campaign, notes)


def _runs(process, worker):
    return str(worker) in (process.info["cmdline"] or [])
