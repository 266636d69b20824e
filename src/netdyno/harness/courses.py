"""How courses are carried out: a fresh worker for each seed of each cell, and a course in the store when it ends."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

import netdyno
from netdyno.devices.monitoring import monitoring
from netdyno.devices.trace import read_trace
from netdyno.errors import NetdynoError
from netdyno.graph.wire import digest, wire_text
from netdyno.harness.events import Story, read_story
from netdyno.harness.figures import learn_figures, learn_headline
from netdyno.harness.folder import write_json
from netdyno.harness.judge import judge
from netdyno.harness.launch import launch
from netdyno.harness.readings import TRACE, Readings, Window, read_gpu, read_host
from netdyno.harness.request import SEED
from netdyno.harness.run import Campaign
from netdyno.harness.train_request import TrainingPlan, Transforms, train_request
from netdyno.harness.watch import Ending, watch
from netdyno.results.cell import Cell
from netdyno.results.record import MEASURED, SHORT, Evaluation, Record
from netdyno.results.selectors import newest_series


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """When it is enough: so many epochs or steps, or an accuracy within them."""

    epochs: float | None = None
    steps: int | None = None
    accuracy: float | None = None

    def words(self) -> str:
        """As it is stored and shown."""
        length = f"steps={self.steps}" if self.steps is not None else f"epochs={self.epochs:g}"
        return length if self.accuracy is None else f"accuracy={self.accuracy:g} within {length}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What is learned: a source's packed splits, and what is done to their images."""

    source: str
    train: Path
    test: Path
    transforms: Transforms


@dataclass(frozen=True, slots=True, kw_only=True)
class Curriculum:
    """Which courses are to be taken, and how."""

    cells: Sequence[Cell]
    seeds: int
    goal: Goal
    files: Files
    evaluate_every: int  # steps; 0 for the last one only
    again: bool = False


class Observer(Protocol):
    """Who is told how things go."""

    def started(self, cell: Cell, seed: int, left: int) -> None: ...

    def polled(self) -> None: ...

    def ended(self, run: Record) -> None: ...


def carry_out_courses(curriculum: Curriculum, campaign: Campaign, observer: Observer) -> list[Record]:
    """Take every course that is missing; the cells take turns, seed by seed."""
    missing = list(_missing(curriculum, campaign))
    taken, started = list[Record](), set[Cell]()
    for place, (cell, seed) in enumerate(missing):
        observer.started(cell, seed, len(missing) - place)
        learning = learn_cell(cell, curriculum)
        series = _series(learning, seed, started, curriculum, campaign)
        started.add(learning)
        run = _take((learning, seed, series), curriculum, campaign, observer)
        campaign.store.add(run)
        campaign.store.add_graph(run.graph_digest, wire_text(campaign.bench.training(cell)))
        observer.ended(run)
        taken.append(run)
    return taken


def _missing(curriculum: Curriculum, campaign: Campaign) -> Iterator[tuple[Cell, int]]:
    """A run that is over need not be made again; one that failed is tried once more."""
    digests = {cell: digest(campaign.bench.training(cell)) for cell in curriculum.cells}
    for seed in range(1, curriculum.seeds + 1):
        for cell in curriculum.cells:
            done = {} if curriculum.again else _last_series(learn_cell(cell, curriculum), digests[cell], campaign)
            if seed not in done or not done[seed].is_measured:
                yield cell, seed


def learn_cell(cell: Cell, curriculum: Curriculum) -> Cell:
    return replace(cell, workload="learn", goal=curriculum.goal.words(), source=curriculum.files.source)


def _last_series(cell: Cell, graph_digest: str, campaign: Campaign) -> dict[int, Record]:
    """The runs of the newest series by their seeds; none where the network has changed since."""
    runs = newest_series(campaign.store.records(cell.columns(), machine=campaign.machine))
    if any(run.graph_digest != graph_digest for run in runs):
        return {}
    return {run.number: run for run in runs}


def _series(cell: Cell, seed: int, started: set[Cell], curriculum: Curriculum, campaign: Campaign) -> int:
    """The series that a run belongs to: the newest of its cell, or a new one."""
    runs = campaign.store.records(cell.columns(), machine=campaign.machine)
    highest = max((run.series for run in runs), default=0)
    current = _last_series(cell, digest(campaign.bench.training(cell)), campaign)
    if not current or (curriculum.again and cell not in started):
        return highest + 1
    if seed in current:
        return campaign.store.make_room_for(current[seed])
    return next(iter(current.values())).series


def _take(run: tuple[Cell, int, int], curriculum: Curriculum, campaign: Campaign, observer: Observer) -> Record:
    cell, seed, series = run
    folder = campaign.folders.make(f"{cell.label()} seed {seed}")
    training = campaign.bench.training(cell)
    request = train_request(cell, training, campaign.side(cell), _plan(seed, curriculum))
    write_json(folder / "request.json", request)
    started_at = _now()
    with monitoring(folder / TRACE, campaign.gpus if cell.device == "cuda" else ()) as monitor:
        launched = time.monotonic()
        running = launch(campaign.command(cell, folder))
        monitor.watch(running.process.pid)
        ending = watch(running, campaign.settings.deadline_s, observer.polled)
    return Record(
        id=folder.name,
        cell=cell,
        machine=campaign.machine,
        series=series,
        number=seed,
        started_at=started_at,
        ended_at=_now(),
        environment=campaign.surroundings(cell),
        graph_digest=digest(training),
        worker_hash=request["worker"],
        netdyno_version=netdyno.__version__,
        headline=learn_headline(cell.goal),
        **_findings(folder, ending, curriculum.goal, launched),
    )


def _plan(seed: int, curriculum: Curriculum) -> TrainingPlan:
    files, goal = curriculum.files, curriculum.goal
    return TrainingPlan(
        train=files.train,
        test=files.test,
        transforms=files.transforms,
        steps=goal.steps,
        epochs=goal.epochs,
        until=goal.accuracy,
        evaluate_every=curriculum.evaluate_every,
        seed=SEED + seed,
    )


def _findings(folder: Path, ending: Ending, goal: Goal, launched: float) -> dict[str, Any]:
    """What a course's events tell: its curve whatever its end, and how it ended."""
    story = read_story(folder / "events.jsonl")
    facts = judge(folder, ending, target=1.0)
    try:
        curve = tuple(_evaluation(event) for event in story.all("evaluation"))
        trained = story.first("trained") or {}
        totals = {
            "steps": int(trained.get("steps", curve[-1].step if curve else 0)),
            "train_s": trained.get("train_s"),
            "wall_s": trained.get("wall_s"),
        }
    except (KeyError, TypeError, ValueError) as error:
        reason = f"the worker broke its protocol: {error!r}"
        return {"outcome": "failed", "reason": reason, "versions": facts.fields["versions"]}
    found = _read(folder, story, launched) if trained else Readings()
    outcome = _outcome(story, facts.outcome, facts.reason, goal)
    is_over = outcome["outcome"] in (MEASURED, SHORT)
    absent = {**found.absent, **({"energy": found.absent["energy_j"]} if "energy_j" in found.absent else {})}
    return {
        **outcome,
        "versions": facts.fields["versions"],
        "settings": facts.fields["settings"],
        "curve": curve,
        "figures": learn_figures(curve, {**found.values, **totals}) if is_over else {},
        "readings": found.values,
        "absent": absent,
    }


def _outcome(story: Story, outcome: str, reason: str, goal: Goal) -> dict[str, str]:
    """What is judged of a run holds for a course that was not finished; a finished one has measured no blocks."""
    done = story.last is not None and story.last["event"] == "done" and not story.complaint
    evaluations = story.all("evaluation")
    if not done or not story.first("trained") or not evaluations:
        return {"outcome": "failed" if done else outcome, "reason": "done without training" if done else reason}
    reached = evaluations[-1]["accuracy"]
    if goal.accuracy is not None and reached < goal.accuracy:
        return {"outcome": SHORT, "reason": f"accuracy {reached:.4f} at the end"}
    return {"outcome": MEASURED, "reason": ""}


def _evaluation(event: dict[str, Any]) -> Evaluation:
    numbers = {name: float(event[name]) for name in ("train_s", "wall_s", "accuracy", "loss")}
    if not 0 <= numbers["accuracy"] <= 1:
        raise NetdynoError(f"expected an accuracy in [0, 1], received {numbers['accuracy']}.")
    return Evaluation(step=int(event["step"]), **numbers)


def _read(folder: Path, story: Story, launched: float) -> Readings:
    """Power and energy from the first step to the end, evaluations included."""
    first, trained = story.first("first_step"), story.first("trained")
    assert trained is not None
    if first is None:
        return Readings(absent={"readings": "the worker's events do not say when it began"})
    window = Window(
        launched=launched,
        built=(story.first("built") or first)["at"],
        start=first["at"] - first["seconds"],
        end=trained["at"],
        images=trained["images"],
    )
    trace = read_trace(folder / TRACE)
    host = read_host(trace, window)
    gpu = read_gpu(trace, window) if trace.series("gpu0.power_instant_w") else Readings()
    found = Readings(values={**host.values, **gpu.values}, absent={**host.absent, **gpu.absent})
    per_item = found.values.get("j_per_item", found.values.get("package_j_per_item"))
    if per_item is None:
        found.absent["energy_j"] = found.absent.get("package_j_per_item", "no energy could be read")
    else:
        found.values["energy_j"] = per_item * window.images
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
