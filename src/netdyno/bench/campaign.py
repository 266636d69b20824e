"""How a plan is carried out: a fresh group of workers per run, one record per run, stored as soon as it ends."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from netdyno.bench.cells import FASTEST, Bench
from netdyno.bench.earlier import earlier_stages, labelled
from netdyno.bench.plan import Plan, PlannedRun
from netdyno.bench.search.fastest import find_fastest
from netdyno.bench.settings import Settings
from netdyno.devices.monitor.client import monitoring
from netdyno.devices.monitor.trace import TRACE
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.graph.cost import totals
from netdyno.graph.wire import digest, identity, wire_text
from netdyno.protocol.event_log import read_bounded
from netdyno.protocol.request import Request
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.store import Basis, Store
from netdyno.results.store.problems import StoreRefused
from netdyno.results.store.sound import storable
from netdyno.runtime.folders import RunFolders
from netdyno.runtime.judge import FAILED, broken
from netdyno.runtime.observer import Observer, Step
from netdyno.runtime.standby import Ready, Standby, may_stand_by
from netdyno.runtime.task import Task, finished
from netdyno.runtime.watch import Ending
from netdyno.runtime.worker import Worker, inherited_variables
from netdyno.workloads import find_workload
from netdyno.workloads.inputs import Inputs, input_key
from netdyno.workloads.probe import Choice, earlier_choice
from netdyno.workloads.workload import SYNTHETIC, Job, RunFacts

FACTS = "run.json"  # in a run's folder
IDENTITY = (
    "id",
    "cell",
    "machine",
    "series",
    "number",
    "started_at",
    "ended_at",
    "graph_digest",
    "worker_hash",
    "basis",
)
RECOVERED = "recovered (what else ran meanwhile is not known)"  # a flag
MOST_FACTS_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything a plan needs beside itself."""

    bench: Bench
    store: Store
    folders: RunFolders
    settings: Settings
    archive: Path  # the packed worker
    interpreters: Mapping[str, Interpreter]  # by framework
    machine: str
    gpus: tuple[int, ...] = ()  # as the monitor numbers them, in the order in which frameworks see them
    inputs: Inputs = field(default_factory=dict)  # what cells with real data are fed
    choices: Mapping[Cell, Choice] = field(default_factory=dict)  # executions that were found fastest already
    environment: Mapping[str, object] = field(default_factory=dict)

    def worker(self, cell: Cell) -> Worker:
        """Who carries out a request for the cell."""
        return Worker.of(find_spec(cell.framework), self.interpreters[cell.framework], self.archive)

    def task(self, cell: Cell, request: Request, folder: Path) -> Task:
        """A request for the cell, carried out in a folder."""
        gpus = self.gpus if cell.device == "cuda" else ()
        return Task(
            worker=self.worker(cell),
            request=request,
            folder=folder,
            deadline_s=self.settings.deadline_s,
            gpus=gpus,
        )

    def basis(self, cell: Cell) -> Basis:
        """What all runs of a series of the cell share; the records of a run say it."""
        settings = self.settings
        always = {"seconds": settings.seconds, "target": settings.target, "published_steps": settings.published_steps}
        known = {"framework": self.interpreters[cell.framework].version, "evaluate_every": settings.evaluate_every}
        return {
            "graph": digest(self.bench.programme(cell)),
            "worker": self.worker(cell).hash,
            **{name: float(value) for name, value in always.items()},
            **{name: value for name, value in known.items() if value},
            **self._data_digests(cell),
        }

    def _data_digests(self, cell: Cell) -> Basis:
        """What the cell is fed, by split, and what is reached on it without a network."""
        inputs = self.inputs.get(input_key(cell)) if cell.data != SYNTHETIC else None
        if inputs is None:
            return {}
        digests = {f"{split} data": digest for split, digest in inputs.ready.digests.items()}
        return {**digests, **{f"simple {name}": score for name, score in inputs.ready.simple.items()}}

    def surroundings(self, cell: Cell) -> dict[str, object]:
        """What a record of the cell says about the machine and its environment."""
        return {**self.environment, "variables": inherited_variables(find_spec(cell.framework))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What became of a run that was in flight when netdyno was killed; both empty if there was nothing to recover."""

    record: Record | None = None
    problem: str = ""


def carry_out(plan: Plan, campaign: Campaign, observer: Observer[Record]) -> list[Record]:
    """Make every run of the plan; a record is in the store before the next run starts."""
    records: list[Record] = []
    idle_w = None
    with Standby[RunFacts]() as standby:
        for place, run in enumerate(plan.runs):
            following = plan.runs[place + 1] if place + 1 < len(plan.runs) else None
            ready = standby.take()
            folder = ready.task.folder if ready else campaign.folders.make(run.cell.label())
            observer.started(Step(cell=run.cell, number=run.number, left=len(plan.runs) - place, folder=folder))
            ready = ready or _make_ready(run, folder, campaign, observer.polled)
            campaign.store.add_graph(ready.about.graph_digest, wire_text(campaign.bench.programme(run.cell)))
            record = _carry_out_one(ready, campaign, idle_w, _on_poll(ready, following, standby, campaign, observer))
            idle_w = record.readings.get("idle_w", idle_w)
            record = campaign.store.add(record)
            campaign.folders.forget()
            observer.ended(record)
            records.append(record)
    return records


def recover(campaign: Campaign) -> Recovery:
    """Store the run that had ended when netdyno was killed before storing it.

    It is set aside before anything of it is read, so that nothing in it can stop the runs to come.
    """
    aside = campaign.folders.set_aside()
    if aside is None:
        return Recovery()
    name = aside.folder.name if aside.folder else aside.pointer.name
    found = Recovery(problem=f"the run in flight, {name}, ended netdyno each time it was read")
    if not aside.is_hopeless:
        try:
            found = Recovery(record=_stored_now(aside.folder, campaign) if aside.folder else None)
        except StoreRefused:  # no run can be stored now, and this one is to be when one can
            aside.put_back()
            raise
        except Exception as error:  # whatever a killed run left must not stop the runs to come
            found = Recovery(problem=f"the run in flight, {name}, could not be recovered: {error or repr(error)}")
    aside.forget()
    return found


def _stored_now(folder: Path, campaign: Campaign) -> Record | None:
    """The record of a run that had said its last word and is not stored yet."""
    if not (folder / FACTS).exists():
        return None
    facts = msgspec.json.decode(read_bounded(folder / FACTS, MOST_FACTS_BYTES) or b"", type=RunFacts)
    ended = finished(folder, Ending(exit_codes=(0,) * facts.ranks))
    if any(log.last is None for log in ended.logs) or campaign.store.has(folder.name):
        return None
    record = storable_or_failed(find_workload(facts.cell.workload).record(facts, ended, _now()))
    flags = (*record.flags, RECOVERED) if record.is_measured else record.flags
    return campaign.store.add(msgspec.structs.replace(record, flags=flags))


def _carry_out_one(
    ready: Ready[RunFacts], campaign: Campaign, idle_w: float | None, on_poll: Callable[[], None]
) -> Record:
    task = ready.task
    with monitoring(task.folder / TRACE, task.gpus) as monitor:
        facts = replace(ready.about, started_at=_now(), launched=time.monotonic(), idle_w=idle_w)
        (task.folder / FACTS).write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=1))
        campaign.folders.point_at(task.folder)
        group = ready.begin()
        monitor.watch(group.pids)
        ended = task.watch(group, on_poll)
    return storable_or_failed(find_workload(facts.cell.workload).record(facts, ended, _now()))


def storable_or_failed(record: Record) -> Record:
    """The record if it is as records must be; else a failed one, with what the worker reported wrongly."""
    try:
        return storable(record, "it")
    except NetdynoError as error:
        kept = {name: getattr(record, name) for name in IDENTITY}
        return Record(**kept, outcome=FAILED, reason=broken(str(error)).reason)


def _on_poll(
    ready: Ready[RunFacts],
    following: PlannedRun | None,
    standby: Standby[RunFacts],
    campaign: Campaign,
    observer: Observer[Record],
) -> Callable[[], None]:
    """What is done again and again while a run goes on; the first time, the next one's worker is started."""
    waiting = [following] if following and _may_stand_by(following, campaign) else []

    def poll() -> None:
        if waiting:
            run = waiting.pop()
            standby.hold(lambda: _make_ready(run, campaign.folders.make(run.cell.label()), campaign, observer.polled))
        standby.keep_still_after_first_step_in(ready.task.folder)
        observer.polled()

    return poll


def _may_stand_by(run: PlannedRun, campaign: Campaign) -> bool:
    """Not where its execution is still to be found, which takes the device."""
    spec = find_spec(run.cell.framework)
    able = run.cell.device == "cuda" and spec.imports_without_device and spec.program is None
    known = run.cell.execution != FASTEST or _known_choice(run, campaign) is not None
    return able and may_stand_by(campaign.settings.seconds) and known


def _make_ready(run: PlannedRun, folder: Path, campaign: Campaign, on_poll: Callable[[], None]) -> Ready[RunFacts]:
    """Write the run's requests, and collect what its record will need."""
    request, facts = _describe(run, campaign)
    if run.cell.execution == FASTEST:
        choice = _known_choice(run, campaign) or _find_choice(run, folder, campaign, on_poll)
        request = msgspec.structs.replace(request, execution=choice.execution)
        facts = replace(facts, choice=choice.for_record())
    task = campaign.task(run.cell, request, folder)
    task.prepare()
    return Ready(task=task, about=facts)


def _describe(run: PlannedRun, campaign: Campaign) -> tuple[Request, RunFacts]:
    cell, settings = run.cell, campaign.settings
    programme, worker = campaign.bench.programme(cell), campaign.worker(cell)
    entry = campaign.bench.entry_of(cell)
    inputs = campaign.inputs[input_key(cell)] if cell.data != SYNTHETIC else None
    job = Job(
        cell=cell,
        number=run.number,
        programme=programme,
        worker=worker,
        timing=settings.timing(cell.device, entry.steps),
        inputs=inputs,
        evaluate_every=settings.evaluate_every,
        before=earlier_stages(cell, entry, campaign.bench) if cell.goal else (),
        labelled=labelled(cell, entry),
    )
    request = find_workload(cell.workload).request(job)
    counted = totals(programme)
    basis = dict(campaign.basis(cell))
    facts = RunFacts(
        cell=cell,
        series=run.series,
        number=run.number,
        machine=campaign.machine,
        target=settings.target,
        graph_digest=str(basis.pop("graph")),
        graph_identity=identity(programme),
        worker_hash=str(basis.pop("worker")),
        basis=basis,
        item=entry.item,
        units=entry.units_per_row(dict(cell.options)),
        ranks=request.ranks,
        environment=campaign.surroundings(cell),
        cost={name: getattr(counted, name) for name in counted.__slots__},
        composites=worker.composites(programme),
    )
    return request, facts


def _known_choice(run: PlannedRun, campaign: Campaign) -> Choice | None:
    """The execution of a cell that wants the fastest, where it was found already: in its series, or ahead."""
    where = {**run.cell.columns(), "series": run.series}
    return earlier_choice(campaign.store.records(where, machine=campaign.machine)) or campaign.choices.get(run.cell)


def _find_choice(run: PlannedRun, folder: Path, campaign: Campaign, on_poll: Callable[[], None]) -> Choice:
    """Try each execution, in a folder of its own below the run's."""
    worker, programme = campaign.worker(run.cell), campaign.bench.programme(run.cell)
    return find_fastest(
        run.cell, programme, worker, lambda request: campaign.task(run.cell, request, folder / "fastest").run(on_poll)
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
