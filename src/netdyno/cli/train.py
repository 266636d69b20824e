"""`netdyno train`: train on real data to a goal, and say how good it got and what it took."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from netdyno.cli.options import JsonOption, PythonOption, device_of, store_location, threads_of
from netdyno.data.item import SPLITS
from netdyno.data.packing import PACKED, make_ready
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.monitoring import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter, locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec, specs
from netdyno.harness.complete import Bench
from netdyno.harness.courses import Curriculum, Files, Goal, carry_out_courses, learn_cell
from netdyno.harness.feeding import food_of
from netdyno.harness.folder import RunFolders, only_measurement
from netdyno.harness.revision import find_revision
from netdyno.harness.run import Campaign
from netdyno.harness.settings import Settings
from netdyno.harness.suites import default_framework
from netdyno.harness.worker_file import pack_worker
from netdyno.report.console import data_console, print_json, talk_console
from netdyno.report.course_progress import CourseProgress, Packing
from netdyno.report.course_tables import cost_of, course_tables
from netdyno.results.cell import Cell
from netdyno.results.record import MEASURED, Record
from netdyno.results.result import Result, results_of, to_json
from netdyno.results.store import open_store

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
    asked = _Asked(bench=bench, machine=machine, given=read_given(python or ()), deadline_s=deadline)
    wish = _said(
        network=network, dataset=dataset, batch=batch, precision=precision, execution=execution, threads=threads,
        device=device_of(gpus, cpu, len(machine.gpus)), data=PACKED,
    )  # fmt: skip
    goal, count = read_goal(epochs, steps, until), _positive("--seeds", seeds)
    cells = [bench.complete({**wish, "framework": name}) for name in _frameworks(framework, asked.given)]
    files, every = _files(bench, cells[0], source, evaluate_every)
    curriculum = Curriculum(
        cells=cells, seeds=count, goal=goal, files=files, evaluate_every=every, again=again
    )  # fmt: skip
    _take(curriculum, asked, store_location(context), Telling(json=json, price_per_hour=price_per_hour))


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


def _files(bench: Bench, cell: Cell, source: str | None, every: int | None) -> tuple[Files, int]:
    """The packed splits to learn from, made now if the source is here in another format; and how many steps an
    evaluation comes after, an epoch's if nobody says."""
    entry = bench.entry(cell.network, cell.dataset)
    if every is not None:
        _positive("--evaluate-every", every)
    with Packing(talk_console()) as packing:
        ready = make_ready(home(), source or entry.dataset.name, PACKED, packing.packed)
    train_file, test_file = (ready.packed_file(split) for split in SPLITS)
    transforms = food_of(entry, ready).transforms
    files = Files(source=ready.source, train=train_file, test=test_file, transforms=transforms)
    return files, every or max(1, math.ceil(ready.about.count / cell.batch))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a campaign needs before there is a store."""

    bench: Bench
    machine: Machine
    given: Given
    deadline_s: float


def _take(curriculum: Curriculum, asked: _Asked, location: str, telling: Telling) -> None:
    interpreters = {
        cell.framework: find_interpreter(find_spec(cell.framework), asked.given) for cell in curriculum.cells
    }
    with only_measurement(home()), open_store(location) as store:
        campaign = Campaign(
            bench=asked.bench,
            store=store,
            folders=RunFolders(home=home(), store_name=location),
            settings=Settings(deadline_s=asked.deadline_s),
            worker=pack_worker(home() / "workers"),
            interpreters=interpreters,
            machine=machine_id(asked.machine),
            gpus=visible_gpus()[:1],
            environment=asked.machine.as_dict() | {"revision": find_revision(Path.cwd())},
        )
        with CourseProgress(talk_console()) as progress:
            carry_out_courses(curriculum, campaign, progress)
        wanted = {learn_cell(cell, curriculum) for cell in curriculum.cells}
        runs = [run for run in store.records({"workload": "learn"}, campaign.machine) if run.cell in wanted]
    _show(curriculum, runs, telling)


def _show(curriculum: Curriculum, runs: Sequence[Record], telling: Telling) -> None:
    results = results_of(run for run in runs if run.number <= curriculum.seeds)
    if telling.json:
        print_json([_as_json(result, telling.price_per_hour) for result in results])
    else:
        for part in course_tables(results, telling.price_per_hour):
            data_console().print(part)
    if any(run.outcome != MEASURED for result in results for run in result.records):
        raise typer.Exit(1)


def _as_json(result: Result, price_per_hour: float | None) -> dict[str, Any]:
    """The result with every learning curve."""
    cost = {} if price_per_hour is None else {"cost": to_builtins(cost_of(result, price_per_hour))}
    seeds = [
        {"seed": run.number, "outcome": run.outcome, "reason": run.reason, "curve": to_builtins(run.curve)}
        for run in result.records
    ]
    return {**to_json(result), "reached": result.reached, **cost, "seeds": seeds}


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received {value}.")
    return value


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
