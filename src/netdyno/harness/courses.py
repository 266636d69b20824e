"""How courses are carried out: a fresh worker for each seed of each cell, and a course in the store when it ends."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import netdyno
from netdyno.devices.monitor.client import monitoring
from netdyno.devices.monitor.trace import TRACE, read_trace
from netdyno.errors import NetdynoError
from netdyno.graph.wire import digest
from netdyno.harness.events import Story, read_story
from netdyno.harness.folder import write_json
from netdyno.harness.judge import judge
from netdyno.harness.launch import launch
from netdyno.harness.request import SEED
from netdyno.harness.run import Campaign
from netdyno.harness.train_request import TrainingPlan, Transforms, train_request
from netdyno.harness.watch import Ending, watch
from netdyno.results.cell import Cell
from netdyno.results.course import SHORT, TRAINED, Course, Evaluation
from netdyno.runtime.readings.gpus import read_gpus
from netdyno.runtime.readings.host import read_host
from netdyno.runtime.readings.window import Readings, Window


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

    def ended(self, course: Course) -> None: ...


def carry_out_courses(curriculum: Curriculum, campaign: Campaign, observer: Observer) -> list[Course]:
    """Take every course that is missing; the cells take turns, seed by seed."""
    missing = list(_missing(curriculum, campaign))
    taken = []
    for place, (cell, seed) in enumerate(missing):
        observer.started(cell, seed, len(missing) - place)
        course = _take(cell, seed, curriculum, campaign, observer)
        campaign.store.add_course(course)
        observer.ended(course)
        taken.append(course)
    return taken


def _missing(curriculum: Curriculum, campaign: Campaign) -> Iterator[tuple[Cell, int]]:
    """A course that is over need not be taken again; one that failed is tried once more."""
    done = (
        set() if curriculum.again else {_identity(c) for c in campaign.store.courses(campaign.machine) if c.is_over}
    )
    digests = {cell: digest(campaign.bench.programme(cell)) for cell in curriculum.cells}
    for seed in range(1, curriculum.seeds + 1):
        for cell in curriculum.cells:
            wanted = (cell, curriculum.goal.words(), curriculum.files.source, seed, digests[cell])
            if wanted not in done:
                yield cell, seed


def _identity(course: Course) -> tuple[Any, ...]:
    return course.cell, course.goal, course.source, course.seed, course.graph_digest


def _take(cell: Cell, seed: int, curriculum: Curriculum, campaign: Campaign, observer: Observer) -> Course:
    folder = campaign.folders.make(f"{cell.label()} seed {seed}")
    programme = campaign.bench.programme(cell)
    request = train_request(cell, programme, campaign.side(cell), _plan(seed, curriculum))
    write_json(folder / "request.json", request)
    started_at = _now()
    with monitoring(folder / TRACE, campaign.gpus if cell.device == "cuda" else ()) as monitor:
        launched = time.monotonic()
        running = launch(campaign.command(cell, folder))
        monitor.watch([running.process.pid])
        ending = watch(running, campaign.settings.deadline_s, observer.polled)
    return Course(
        id=folder.name,
        cell=cell,
        machine=campaign.machine,
        goal=curriculum.goal.words(),
        source=curriculum.files.source,
        seed=seed,
        started_at=started_at,
        ended_at=_now(),
        environment=campaign.surroundings(cell),
        graph_digest=digest(programme),
        worker_hash=request["worker"],
        netdyno_version=netdyno.__version__,
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
        told = {
            "steps": int(trained.get("steps", curve[-1].step if curve else 0)),
            "train_s": trained.get("train_s"),
            "wall_s": trained.get("wall_s"),
        }
    except (KeyError, TypeError, ValueError) as error:
        reason = f"the worker broke its protocol: {error!r}"
        return {"outcome": "failed", "reason": reason, "versions": facts.fields["versions"]}
    found = _read(folder, story, launched) if trained else Readings()
    common = {"versions": facts.fields["versions"], "settings": facts.fields["settings"], "curve": curve, **told}
    return {
        **common,
        **_outcome(story, facts.outcome, facts.reason, goal),
        "readings": found.values,
        "absent": found.absent,
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
    return {"outcome": TRAINED, "reason": ""}


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
        items=trained["images"],
    )
    trace = read_trace(folder / TRACE)
    host = read_host(trace, window)
    gpu = read_gpus(trace, window) if trace.gpus else Readings()
    found = Readings(values={**host.values, **gpu.values}, absent={**host.absent, **gpu.absent})
    per_item = found.values.get("j_per_item", found.values.get("package_j_per_item"))
    if per_item is None:
        found.absent["energy_j"] = found.absent.get("package_j_per_item", "no energy could be read")
    else:
        found.values["energy_j"] = per_item * window.items
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
