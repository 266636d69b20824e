"""What a course came to: a network trained on real data until a goal, with its learning curve.

A run measures how fast a cell trains; a course says how good it gets, and after how many seconds and joules.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from netdyno.results.cell import Cell

FIGURES = ("accuracy", "train_s", "wall_s", "steps", "energy_j")
TRAINED, SHORT = "trained", "short of its goal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How good the network was after so many steps, on the whole test split. Evaluating is not in `train_s`."""

    step: int
    train_s: float
    wall_s: float
    accuracy: float
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One fresh process that trained a cell from a seed. `id` is also the name of its folder."""

    id: str
    cell: Cell
    machine: str
    goal: str  # such as 'epochs=1' or 'accuracy=0.985 within epochs=20'
    source: str  # whose files it learned from, such as 'mnist'
    seed: int
    outcome: str  # trained, short of its goal, or a record's words for what went wrong
    started_at: str
    ended_at: str
    reason: str = ""
    curve: tuple[Evaluation, ...] = ()
    steps: int = 0
    train_s: float | None = None
    wall_s: float | None = None
    readings: Mapping[str, float] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    graph_digest: str = ""
    worker_hash: str = ""
    netdyno_version: str = ""

    @property
    def accuracy(self) -> float | None:
        """At the end."""
        return self.curve[-1].accuracy if self.curve else None

    @property
    def is_over(self) -> bool:
        """Whether it was trained as long as it was meant to be, whatever it reached."""
        return self.outcome in (TRAINED, SHORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure over several seeds."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseResult:
    """The courses of one cell with one goal: a course for each seed."""

    courses: tuple[Course, ...]

    @property
    def cell(self) -> Cell:
        return self.courses[0].cell

    @property
    def over(self) -> tuple[Course, ...]:
        return tuple(course for course in self.courses if course.is_over)

    @property
    def reached(self) -> int:
        """How many seeds came to the goal."""
        return sum(course.outcome == TRAINED for course in self.courses)

    def spread(self, name: str) -> Spread | None:
        """Of `accuracy`, `train_s`, `wall_s`, `steps` or a reading, over the seeds that have it."""
        found = [value for course in self.over if (value := _figure(course, name)) is not None]
        return Spread(mean=statistics.fmean(found), low=min(found), high=max(found)) if found else None

    def cost(self, price_per_hour: float) -> Spread | None:
        """What the seconds of training and evaluating cost at a price for the machine."""
        wall = self.spread("wall_s")
        if wall is None:
            return None
        return Spread(**{name: seconds / 3600 * price_per_hour for name, seconds in asdict(wall).items()})


def course_results(courses: Iterable[Course]) -> list[CourseResult]:
    """A result for each cell, machine, goal and source: the newest course of each seed."""
    groups: dict[tuple[Any, ...], dict[int, Course]] = {}
    for course in sorted(courses, key=lambda course: course.started_at):
        key = (course.cell, course.machine, course.source, course.goal)
        groups.setdefault(key, {})[course.seed] = course
    return [_result(list(groups[key].values())) for key in sorted(groups)]


def to_json(result: CourseResult, price_per_hour: float | None = None) -> dict[str, Any]:
    """What `--json` prints: figures over seeds, and every learning curve."""
    first = result.courses[0]
    figures = {name: _json_spread(result.spread(name)) for name in FIGURES}
    told = {"source": first.source, "goal": first.goal, "seeds": len(result.courses), "reached": result.reached}
    cost = {} if price_per_hour is None else {"cost": _json_spread(result.cost(price_per_hour))}
    courses = [_json_course(course) for course in result.courses]
    return {**result.cell.as_dict(), **told, **figures, **cost, "courses": courses}


def _result(courses: Sequence[Course]) -> CourseResult:
    return CourseResult(courses=tuple(sorted(courses, key=lambda course: course.seed)))


def _figure(course: Course, name: str) -> float | None:
    if name in ("accuracy", "train_s", "wall_s", "steps"):
        value = getattr(course, name)
        return None if value is None else float(value)
    return course.readings.get(name)


def _json_course(course: Course) -> dict[str, Any]:
    plain = {name: getattr(course, name) for name in ("seed", "outcome", "reason", "readings", "absent")}
    return {**plain, "curve": [asdict(evaluation) for evaluation in course.curve]}


def _json_spread(spread: Spread | None) -> dict[str, float] | None:
    return None if spread is None else asdict(spread)
