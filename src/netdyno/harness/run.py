"""How a plan is carried out: one fresh worker process per run, one record per run, written as soon as it ends."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol

import netdyno
from netdyno.devices.monitoring import monitoring
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.graph.totals import totals
from netdyno.graph.wire import digest, wire_text
from netdyno.harness.complete import FASTEST, Bench
from netdyno.harness.events import read_story
from netdyno.harness.fastest import Choice, earlier_choice, look, probe_request
from netdyno.harness.feeding import Larder, larder_key
from netdyno.harness.figures import train_absent, train_figures
from netdyno.harness.folder import RunFolders, write_json
from netdyno.harness.judge import judge
from netdyno.harness.launch import Command, inherited_variables
from netdyno.harness.plan import Plan, PlannedRun
from netdyno.harness.readings import TRACE, take_readings
from netdyno.harness.request import WorkerSide, measure_request
from netdyno.harness.settings import Settings
from netdyno.harness.standby import Ready, Standby, may_stand_by, standing_by
from netdyno.harness.watch import Ending, watch
from netdyno.results.cell import Cell
from netdyno.results.cores import crowding
from netdyno.results.limit import asked_bytes
from netdyno.results.record import Record
from netdyno.results.store import Store

SYNTHETIC = "synthetic"
HEADLINE = "throughput"


class Observer(Protocol):
    """Who is told how things go: a progress line, or nobody."""

    def started(self, run: PlannedRun, folder: Path) -> None: ...

    def polled(self) -> None: ...

    def ended(self, record: Record) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything a plan needs beside itself."""

    bench: Bench
    store: Store
    folders: RunFolders
    settings: Settings
    worker: Path
    interpreters: Mapping[str, Interpreter]  # by framework
    machine: str
    gpus: tuple[int, ...] = ()  # as the monitor numbers them, in the order in which frameworks see them
    larder: Larder = field(default_factory=dict)  # what cells with real data are fed
    choices: Mapping[Cell, Choice] = field(default_factory=dict)  # executions that were found fastest already
    environment: Mapping[str, Any] = field(default_factory=dict)

    def side(self, cell: Cell) -> WorkerSide:
        """Who carries out a request for the cell."""
        return WorkerSide.of(find_spec(cell.framework), self.interpreters[cell.framework], self.worker)

    def surroundings(self, cell: Cell) -> dict[str, Any]:
        """What a record of the cell says of the world around it."""
        return {**self.environment, "variables": inherited_variables(find_spec(cell.framework))}

    def command(self, cell: Cell, folder: Path) -> Command:
        """How a worker for the cell is started on the request in a folder."""
        spec = find_spec(cell.framework)
        return Command(
            python=self.interpreters[cell.framework].path,
            worker=self.worker,
            folder=folder,
            threads=cell.threads,
            variables=spec.variables,
            program=spec.program,
        )


def carry_out(plan: Plan, campaign: Campaign, observer: Observer) -> list[Record]:
    """Make every run of the plan; a record is in the store before the next run starts."""
    records = []
    idle_w = None
    with standing_by() as standby:
        for run, following in zip_longest(plan.runs, plan.runs[1:]):
            ready = standby.take()
            folder = ready.folder if ready else campaign.folders.make(run.cell.label())
            observer.started(run, folder)
            ready = ready or _make_ready(run, folder, campaign, observer)
            beside = _beside(folder, following, standby, campaign, observer)
            record = _carry_out_one(ready, campaign, idle_w, beside)
            idle_w = record.readings.get("idle_w", idle_w)
            campaign.store.add(record)
            campaign.store.add_graph(record.graph_digest, wire_text(campaign.bench.training(run.cell)))
            campaign.folders.forget()
            observer.ended(record)
            records.append(record)
    return records


def recover(campaign: Campaign) -> Record | None:
    """Store the run that had spoken its last word when netdyno was killed before writing it down."""
    folder = campaign.folders.pointed_at()
    record = None
    if folder and (folder / "run.json").exists() and read_story(folder / "events.jsonl").last:
        about = json.loads((folder / "run.json").read_text())
        unwatched = Ending(exit_code=0, timed_out=False, out_of_memory_kills=0, foreign_share=None, stolen_share=None)
        record = _record(folder, about, unwatched)
        if campaign.store.has(record.id):
            record = None
        else:
            campaign.store.add(record)
    campaign.folders.forget()
    return record


def _carry_out_one(ready: Ready, campaign: Campaign, idle_w: float | None, on_poll: Callable[[], None]) -> Record:
    gpus = campaign.gpus if ready.about["cell"]["device"] == "cuda" else ()
    with monitoring(ready.folder / TRACE, gpus) as monitor:
        about = {**ready.about, "started_at": _now(), "launched": time.monotonic(), "idle_w": idle_w}
        write_json(ready.folder / "run.json", about)
        campaign.folders.point_at(ready.folder)
        running = ready.begin()
        monitor.watch(running.process.pid)
        ending = watch(running, campaign.settings.deadline_s, on_poll)
    return _record(ready.folder, about, ending)


def _beside(
    folder: Path, following: PlannedRun | None, standby: Standby, campaign: Campaign, observer: Observer
) -> Callable[[], None]:
    """What is done again and again while the run in this folder goes on; the first time, the next one is called."""
    called = [following] if following and _may_stand_by(following, campaign) else []

    def poll() -> None:
        if called:
            run = called.pop()
            standby.hold(lambda: _make_ready(run, campaign.folders.make(run.cell.label()), campaign, observer))
        standby.keep_still_after_first_step_in(folder)
        observer.polled()

    return poll


def _may_stand_by(run: PlannedRun, campaign: Campaign) -> bool:
    """Not where its execution is still to be found, which takes the device."""
    spec = find_spec(run.cell.framework)
    able = run.cell.device == "cuda" and spec.imports_without_device and spec.program is None
    return (
        able
        and may_stand_by(campaign.settings.seconds)
        and (run.cell.execution != FASTEST or _known_choice(run, campaign) is not None)
    )


def _make_ready(run: PlannedRun, folder: Path, campaign: Campaign, observer: Observer) -> Ready:
    command, request, about = _prepare(run, folder, campaign)
    if run.cell.execution == FASTEST:
        choice = _known_choice(run, campaign) or _look(run, (command, request), campaign, observer)
        request |= {"execution": choice.execution}
        about |= {"choice": choice.for_record()}
    write_json(folder / "request.json", request)
    return Ready(folder=folder, command=command, about=about)


def _prepare(run: PlannedRun, folder: Path, campaign: Campaign) -> tuple[Command, dict[str, Any], dict[str, Any]]:
    """How to start the worker, what to ask of it, and what the host will need to make a record of the run."""
    cell, training = run.cell, campaign.bench.training(run.cell)
    side = campaign.side(cell)
    counted = totals(training)
    about = {
        "cell": cell.as_dict(),
        "series": run.series,
        "number": run.number,
        "machine": campaign.machine,
        "target": campaign.settings.target,
        "graph_digest": digest(training),
        "worker_hash": side.worker_hash,
        "environment": campaign.surroundings(cell),
        "cost": {name: getattr(counted, name) for name in counted.__slots__},
    }
    entry = campaign.bench.entry(cell.network, cell.dataset)
    settings = campaign.settings.for_worker(cell.device, entry.steps)
    request = measure_request(cell, training, side, settings)
    if cell.data != SYNTHETIC:
        request |= {"files": campaign.larder[larder_key(cell)].for_request(cell)}
    return campaign.command(cell, folder), request, about


def _known_choice(run: PlannedRun, campaign: Campaign) -> Choice | None:
    """The execution of a cell that wants the fastest, where it was found already: in its series, or ahead."""
    where = {**run.cell.columns(), "series": run.series}
    return earlier_choice(campaign.store.records(where, machine=campaign.machine)) or campaign.choices.get(run.cell)


def _look(run: PlannedRun, asked: tuple[Command, dict[str, Any]], campaign: Campaign, observer: Observer) -> Choice:
    """A short look at each execution."""
    executions = list(find_spec(run.cell.framework).executions_on(run.cell.device))
    command, request = asked
    return look(command, probe_request(request, executions), campaign.settings.deadline_s, observer.polled)


def _record(folder: Path, about: Mapping[str, Any], ending: Ending) -> Record:
    cell = Cell(**about["cell"])
    verdict = judge(folder, ending, about["target"])
    fields = verdict.fields
    if "choice" in about:
        fields |= {"settings": {**fields["settings"], **about["choice"]}}
    if verdict.outcome == "measured":
        found = take_readings(folder, cell, about.get("launched", 0.0), about.get("idle_w"))
        crowd = crowding(cell.threads, about["environment"]) if cell.device == "cpu" else ""
        flags = (*fields["flags"], *found.flags, *filter(None, [crowd]))
        fields |= {"readings": found.values, "flags": flags, "trace": found.trace}
        fields |= {"absent": train_absent(cell, found.absent)}
        fields |= {"figures": train_figures(cell, fields["samples"], {**found.values, **fields})}
    elif verdict.outcome == "out of memory" and (asked := asked_bytes(verdict.reason)):
        fields |= {"readings": {"asked_bytes": asked}}
    kept = ("series", "number", "machine", "started_at", "graph_digest", "worker_hash", "environment", "cost")
    return Record(
        id=folder.name,
        cell=cell,
        headline=HEADLINE,
        outcome=verdict.outcome,
        reason=verdict.reason,
        ended_at=_now(),
        netdyno_version=netdyno.__version__,
        **{name: about[name] for name in kept},
        **fields,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
