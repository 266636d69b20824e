"""`netdyno train`: train on real data to a goal, and say how good it got and what it took."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from netdyno.bench.campaign import Campaign, carry_out
from netdyno.bench.cells import Bench
from netdyno.bench.plan import make_learning_plan
from netdyno.bench.revision import find_revision
from netdyno.bench.settings import Settings
from netdyno.bench.suites import default_framework
from netdyno.cli.options import JsonOption, PythonOption, device_of, store_location, threads_of
from netdyno.cli.run import report_recovery
from netdyno.data.packing import PACKED
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.monitoring import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter, locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec, specs
from netdyno.graph.wire import digest
from netdyno.report.console import data_console, print_json, talk_console
from netdyno.report.course_progress import CourseProgress, Packing
from netdyno.report.course_tables import course_tables
from netdyno.results.cell import Cell
from netdyno.results.course import TRAINED, Course, course_results, to_json
from netdyno.results.store import Store, open_store
from netdyno.runtime.folders import RunFolders, only_measurement
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.inputs import Inputs, prepare_inputs
from netdyno.workloads.learn import Goal

MOST_EPOCHS = 100  # while an accuracy is sought and nobody says how long to try


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How results are told."""

    json: bool
    price_per_hour: float | None


def train(
    context: typer.Context,
    network: Annotated[str, typer.Option(help="A network of the zoo, or path/to/file.py:function.")] = "lenet/mnist",
    dataset: Annotated[str | None, typer.Option(help="Its dataset; the network's first if not said.")] = None,
    framework: Annotated[
        list[str] | None, typer.Option(help="May be repeated; if not said, every usable one.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Whose images, where not the dataset's: fashion-mnist, shapes …")
    ] = None,
    epochs: Annotated[float | None, typer.Option(help="How often all is learned; once if nothing is said.")] = None,
    steps: Annotated[int | None, typer.Option(help="So many steps in place of epochs.")] = None,
    until: Annotated[
        str | None, typer.Option(metavar="accuracy=X", help="Stop when the test split is answered so well.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="So many courses, each from other weights in another order.")] = 3,
    evaluate_every: Annotated[
        int | None, typer.Option(help="Evaluate after every so many steps; after every epoch if not said.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Images in a step; the network's own if not said.")] = None,
    precision: Annotated[str | None, typer.Option(help="float32 (strict), tf32, bfloat16, float16.")] = None,
    execution: Annotated[str | None, typer.Option(help="eager, compiled, cudagraph, compiled-cudagraph.")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads; every usable core if not said.")] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="On the CPU (as without --gpus).")] = False,
    gpus: Annotated[int | None, typer.Option(help="On so many GPUs.")] = None,
    price_per_hour: Annotated[float | None, typer.Option(help="Of the machine: what the courses cost.")] = None,
    deadline: Annotated[float, typer.Option(help="Give a course up after so many seconds.")] = 3600.0,
    python: PythonOption = None,
    again: Annotated[bool, typer.Option("--again", help="Take courses anew that were taken.")] = False,
    json: JsonOption = False,
) -> None:
    """Train on real data to a goal in every framework: accuracy on the test split, seconds, joules and cost."""
    machine = describe_machine()
    bench = Bench(threads=threads_of(machine), folder=Path.cwd(), framework=default_framework())
    given = read_given(python or ())
    fields = _said(
        network=network, dataset=dataset, batch=batch, precision=precision, execution=execution, threads=threads,
        device=device_of(gpus, cpu, len(machine.gpus)), data=PACKED,
    )  # fmt: skip
    goal, count = read_goal(epochs, steps, until), _positive("--seeds", seeds)
    cells = [bench.complete({**fields, "framework": name}) for name in _frameworks(framework, given)]
    asked = Asked(
        cells=cells, seeds=count, goal=goal, source=source, evaluate_every=evaluate_every, again=again, bench=bench,
        machine=machine, given=given, deadline_s=deadline,
    )  # fmt: skip
    _learn(asked, store_location(context), Telling(json=json, price_per_hour=price_per_hour))


def read_goal(epochs: float | None, steps: int | None, until: str | None) -> Goal:
    """What the flags ask for; an accuracy is sought for so long as they say."""
    if epochs is not None and steps is not None:
        raise NetdynoError("expected --epochs or --steps, received both.")
    for name, value in (("--epochs", epochs), ("--steps", steps)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise NetdynoError(f"{name}: expected a number over 0, received {value}.")
    accuracy = None if until is None else _accuracy(until)
    if steps is not None:
        return Goal(steps=steps, accuracy=accuracy)
    return Goal(epochs=epochs or (1 if accuracy is None else MOST_EPOCHS), accuracy=accuracy)


def _accuracy(said: str) -> float:
    name, _, number = said.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if name != "accuracy" or not 0 < value <= 1:
        raise NetdynoError(f"--until: expected accuracy=X with X over 0 and at most 1, received '{said}'.")
    return value


def _frameworks(said: Sequence[str] | None, given: Given) -> list[str]:
    """The named ones, or all that can train here."""
    if said:
        return [find_spec(name).name for name in dict.fromkeys(said)]
    usable = [spec.name for spec in specs().values() if not spec.is_instrument and locate(spec, given)]
    if not usable:
        raise NetdynoError("no framework is here.", hint=f"Run: netdyno frameworks install {default_framework()}")
    return usable


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be learned, how often and from what."""

    cells: Sequence[Cell]
    seeds: int
    goal: Goal
    source: str | None
    evaluate_every: int | None
    again: bool
    bench: Bench
    machine: Machine
    given: Given
    deadline_s: float


def _learn(asked: Asked, location: str, telling: Telling) -> None:
    if asked.evaluate_every is not None:
        _positive("--evaluate-every", asked.evaluate_every)
    with Packing(talk_console()) as packing:
        inputs = prepare_inputs(asked.cells, asked.bench.entry_of, home(), packing.packed, asked.source)
    source = next(iter(inputs.values())).ready.source
    with only_measurement(home()), open_store(location) as store:
        campaign = _campaign(asked, inputs, store, location)
        report_recovery(campaign)
        digests = {cell: digest(asked.bench.programme(cell)) for cell in asked.cells}
        kept = [] if asked.again else _wanted(store.courses(campaign.machine), asked, source)
        with CourseProgress(talk_console()) as progress:
            carry_out(make_learning_plan(asked.cells, asked.seeds, kept, digests), campaign, progress)
        courses = _wanted(store.courses(campaign.machine), asked, source)
    _show(courses, telling)


def _campaign(asked: Asked, inputs: Inputs, store: Store, location: str) -> Campaign:
    names = {cell.framework for cell in asked.cells}
    return Campaign(
        bench=asked.bench,
        store=store,
        folders=RunFolders(home=home(), store_name=location),
        settings=Settings(deadline_s=asked.deadline_s),
        archive=pack_worker(home() / "workers"),
        interpreters={name: find_interpreter(find_spec(name), asked.given) for name in names},
        machine=machine_id(asked.machine),
        workload="learn",
        goal=asked.goal.words(),
        evaluate_every=asked.evaluate_every,
        inputs=inputs,
        gpus=visible_gpus()[:1],
        environment=asked.machine.as_dict() | {"revision": find_revision(Path.cwd())},
    )


def _wanted(courses: Sequence[Course], asked: Asked, source: str) -> list[Course]:
    """Those of the requested cells, goal, source and seeds."""
    cells, goal = set(asked.cells), asked.goal.words()
    return [c for c in courses if c.cell in cells and (c.goal, c.source) == (goal, source) and c.seed <= asked.seeds]


def _show(courses: Sequence[Course], telling: Telling) -> None:
    results = course_results(courses)
    if telling.json:
        print_json([to_json(result, telling.price_per_hour) for result in results])
    else:
        for part in course_tables(results, telling.price_per_hour):
            data_console().print(part)
    if any(course.outcome != TRAINED for result in results for course in result.courses):
        raise typer.Exit(1)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received {value}.")
    return value


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
