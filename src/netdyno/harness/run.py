"""How a plan is carried out: one fresh worker process per run, one record per run, written as soon as it ends."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import netdyno
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec
from netdyno.graph.totals import totals
from netdyno.graph.wire import digest
from netdyno.harness.complete import Bench
from netdyno.harness.events import read_story
from netdyno.harness.folder import RunFolders, write_json
from netdyno.harness.judge import judge
from netdyno.harness.launch import Command, launch
from netdyno.harness.plan import Plan, PlannedRun
from netdyno.harness.request import WorkerSide, measure_request
from netdyno.harness.settings import Settings
from netdyno.harness.watch import Ending, watch
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.store import Store


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
    environment: Mapping[str, Any] = field(default_factory=dict)


def carry_out(plan: Plan, campaign: Campaign, observer: Observer) -> list[Record]:
    """Make every run of the plan; a record is in the store before the next run starts."""
    records = []
    for run in plan.runs:
        folder = campaign.folders.make(run.cell.label())
        observer.started(run, folder)
        record = _carry_out_one(run, folder, campaign, observer)
        campaign.store.add(record)
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


def _carry_out_one(run: PlannedRun, folder: Path, campaign: Campaign, observer: Observer) -> Record:
    command = _prepare(run, folder, campaign)
    campaign.folders.point_at(folder)
    ending = watch(launch(command), campaign.settings.deadline_s, observer.polled)
    return _record(folder, json.loads((folder / "run.json").read_text()), ending)


def _prepare(run: PlannedRun, folder: Path, campaign: Campaign) -> Command:
    """Write the request, and beside it what the host will need to make a record of the run."""
    cell, training = run.cell, campaign.bench.training(run.cell)
    spec = find_spec(cell.framework)
    interpreter = campaign.interpreters[cell.framework]
    side = WorkerSide.of(spec, interpreter, campaign.worker)
    counted = totals(training)
    about = {
        "cell": cell.as_dict(),
        "series": run.series,
        "number": run.number,
        "machine": campaign.machine,
        "started_at": _now(),
        "target": campaign.settings.target,
        "graph_digest": digest(training),
        "worker_hash": side.worker_hash,
        "environment": dict(campaign.environment),
        "cost": {name: getattr(counted, name) for name in counted.__slots__},
    }
    write_json(folder / "run.json", about)
    entry = campaign.bench.entry(cell.network, cell.dataset)
    settings = campaign.settings.for_worker(cell.device, entry.steps)
    write_json(folder / "request.json", measure_request(cell, training, side, settings))
    return Command(
        python=interpreter.path,
        worker=campaign.worker,
        folder=folder,
        threads=cell.threads,
        variables=spec.variables,
        program=spec.program,
    )


def _record(folder: Path, about: Mapping[str, Any], ending: Ending) -> Record:
    verdict = judge(folder, ending, about["target"])
    kept = ("series", "number", "machine", "started_at", "graph_digest", "worker_hash", "environment", "cost")
    return Record(
        id=folder.name,
        cell=Cell(**about["cell"]),
        outcome=verdict.outcome,
        reason=verdict.reason,
        ended_at=_now(),
        netdyno_version=netdyno.__version__,
        **{name: about[name] for name in kept},
        **verdict.fields,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
