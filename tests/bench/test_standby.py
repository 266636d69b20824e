"""The next run's worker stands by: it is there before its turn, stopped while anything is timed, and never left."""

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from netdyno.bench.campaign import Campaign, carry_out
from netdyno.bench.cells import Bench
from netdyno.bench.plan import Plan, PlannedRun
from netdyno.bench.settings import Settings
from netdyno.frameworks.environments import Interpreter
from netdyno.protocol.event_log import read_events
from netdyno.protocol.events import Warmup
from netdyno.results.store import open_store
from netdyno.runtime import standby
from netdyno.runtime.folders import RunFolders
from netdyno.runtime.readings.window import Readings
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.fit import fit_request

SCRIPTED = Path(__file__).parents[1] / "scripted"
SLOW, QUICK, LAST = 3, 4, 5  # batches; the first one's step takes long enough to be looked at


class Onlooker:
    """Notes in what state a worker that holds was, and what the run in flight had said by then."""

    def __init__(self, campaign, act=lambda worker: None):
        self.campaign, self.act = campaign, act
        self.folder, self.seen, self.batches = None, [], []

    def started(self, step):
        self.folder = step.folder
        self.batches.append(step.cell.batch)

    def polled(self):
        for worker in holding(self.campaign):
            if len(self.batches) == 1:
                warm = read_events(self.folder / "rank0" / "events.jsonl").first(Warmup) is not None
                self.seen.append((warm, worker.status()))
                self.act(worker)

    def ended(self, record): ...


def holding(campaign):
    """Workers that were started to hold; one that has gone on keeps the word in its command line."""
    processes = psutil.process_iter(["cmdline"])
    words = [(process, process.info["cmdline"] or []) for process in processes]
    return [process for process, line in words if str(campaign.archive) in line and line[-1] == "hold"]


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.setenv("NETDYNO_SPECS", str(SCRIPTED))
    monkeypatch.setenv("NETDYNO_SCRIPT", json.dumps({str(SLOW): 0.02}))
    monkeypatch.setattr(standby, "LEAST_CORES", 1)
    with open_store(str(tmp_path / "results.db")) as store:
        yield Campaign(
            bench=Bench(threads=1, folder=tmp_path, framework="standing"),
            store=store,
            folders=RunFolders(home=tmp_path, store_name="results.db"),
            settings=Settings(deadline_s=60, seconds=1.0),
            archive=pack_worker(tmp_path / "workers"),
            interpreters={"standing": Interpreter(path=Path(sys.executable), origin="current")},
            machine="m",
        )


def plan(campaign, *batches, **fields):
    wanted = {"network": "lenet/mnist", "device": "cuda", **fields}
    cells = [campaign.bench.complete({**wanted, "batch": batch}) for batch in batches]
    return Plan(runs=tuple(PlannedRun(cell=cell, series=1, number=1) for cell in cells), finished=0)


def test_the_next_worker_is_there_early_and_stopped_while_the_run_before_it_is_timed(campaign):
    onlooker = Onlooker(campaign)
    records = carry_out(plan(campaign, SLOW, QUICK, LAST), campaign, onlooker)
    assert [record.outcome for record in records] == ["measured"] * 3
    assert [record.cell.batch for record in records] == onlooker.batches == [SLOW, QUICK, LAST]
    timed = [status for warm, status in onlooker.seen if warm]
    assert timed
    assert set(timed) == {psutil.STATUS_STOPPED}
    assert holding(campaign) == []
    assert all(record.samples for record in records)


def test_a_run_is_told_the_idle_power_that_the_runs_before_it_saw(campaign, monkeypatch):
    """The first begins on a calm device, which the others do not find."""
    seen, told = iter([78.0, 124.0, None]), []

    def readings(log, trace, window, cell, items):
        told.append(window.idle_w)
        own = next(seen)
        return Readings(values={} if own is None else {"idle_w": min(own, window.idle_w or own)})

    monkeypatch.setattr("netdyno.workloads.train.read_run", readings)
    carry_out(plan(campaign, SLOW, QUICK, LAST), campaign, Onlooker(campaign))
    assert told == [None, 78.0, 78.0]


def test_what_stands_by_has_touched_nothing_before_its_turn(campaign):
    said = []

    def read_its_events(worker):
        events = Path(worker.cmdline()[-2])
        said.append(events.read_text() if events.exists() else "")

    carry_out(plan(campaign, SLOW, QUICK), campaign, Onlooker(campaign, read_its_events))
    assert said
    assert set(said) == {""}  # it has not even said hello


def test_one_that_dies_while_it_waits_costs_its_own_run(campaign):
    def kill(worker):
        if worker.status() == psutil.STATUS_STOPPED:
            worker.send_signal(signal.SIGKILL)

    onlooker = Onlooker(campaign, kill)
    first, second, third = carry_out(plan(campaign, SLOW, QUICK, LAST), campaign, onlooker)
    assert (first.outcome, third.outcome) == ("measured", "measured")
    assert second.outcome == "crashed"


def test_ctrl_c_leaves_neither_a_worker_nor_its_folder(campaign):
    def interrupt(worker):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(plan(campaign, SLOW, QUICK), campaign, Onlooker(campaign, interrupt))
    assert holding(campaign) == []
    (folder,) = (campaign.folders.home / "runs").iterdir()
    assert f"b{SLOW}" in folder.name


@pytest.mark.parametrize(
    "fields",
    [{"device": "cpu"}, {"execution": "fastest"}, {"framework": "scripted", "device": "cpu"}],
)
def test_nobody_stands_by_on_a_cpu_or_where_the_execution_is_still_to_be_found(campaign, fields):
    python = campaign.interpreters["standing"]
    onlooker = Onlooker(campaign)
    carry_out(
        plan(campaign, SLOW, QUICK, **fields),
        replace(campaign, interpreters={"standing": python, "scripted": python}),
        onlooker,
    )
    assert onlooker.seen == []


def test_nobody_stands_by_where_runs_are_too_short_to_stop_it_in_time(campaign):
    onlooker = Onlooker(campaign)
    short = replace(campaign, settings=Settings(deadline_s=60, seconds=0.9))
    carry_out(plan(campaign, SLOW, QUICK), short, onlooker)
    assert onlooker.seen == []


def test_nobody_stands_by_where_there_are_few_cores(campaign, monkeypatch):
    monkeypatch.setattr(standby, "LEAST_CORES", (os.cpu_count() or 1) + 1)
    onlooker = Onlooker(campaign)
    carry_out(plan(campaign, SLOW, QUICK), campaign, onlooker)
    assert onlooker.seen == []


def test_a_worker_whose_host_is_gone_ends_without_a_word(campaign):
    (run,) = plan(campaign, QUICK).runs
    folder = campaign.folders.make("alone")
    request = fit_request(run.cell, campaign.bench.programme(run.cell), campaign.worker(run.cell))
    task = campaign.task(run.cell, request, folder)
    task.prepare()
    (rank,) = task.start(hold=True).ranks
    rank.process.stdin.close()
    assert rank.process.wait(timeout=20) == 1
    rank.finish_output()
    assert [(rank.folder / name).read_text() for name in ("events.jsonl", "stderr.log")] == ["", ""]
