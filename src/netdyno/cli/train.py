"""`netdyno train`: train on real data to a goal, and say how good it got and what it took."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from netdyno.cli.command import one_command
from netdyno.cli.options import (
    HOW,
    MEASURING,
    OUTPUT,
    WHAT,
    CpuOption,
    DatasetOption,
    GpusOption,
    JsonOption,
    PrecisionOption,
    PythonOption,
    ThreadsOption,
    device_of,
    store_location,
    threads_of,
)
from netdyno.data.item import SPLITS
from netdyno.data.packing import PACKED, make_ready
from netdyno.devices.environment import Environment
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.nvidia.gpus import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter, locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec, specs
from netdyno.harness.complete import Bench
from netdyno.harness.courses import Curriculum, Files, Goal, carry_out_courses
from netdyno.harness.feeding import food_of
from netdyno.harness.folder import RunFolders, only_measurement
from netdyno.harness.revision import find_revision
from netdyno.harness.run import Campaign
from netdyno.harness.settings import Settings
from netdyno.harness.suites import default_framework
from netdyno.harness.worker_file import pack_worker
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.learning import learning_tables
from netdyno.report.terminal.progress import Packing, TrainingProgress
from netdyno.results.cell import Cell
from netdyno.results.course import TRAINED, course_results, to_json
from netdyno.results.store import open_store

MOST_EPOCHS = 100  # while an accuracy is sought and nobody says how long to try


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How results are told."""

    json: bool
    price_per_hour: float | None


def train(
    context: typer.Context,
    network: Annotated[
        str, typer.Option(help="Network of the zoo, or path/to/file.py:function.", rich_help_panel=WHAT)
    ] = "lenet/mnist",
    dataset: DatasetOption = None,
    source: Annotated[
        str | None,
        typer.Option(help="Train on the files of another dataset: fashion-mnist, shapes, ….", rich_help_panel=WHAT),
    ] = None,
    epochs: Annotated[float | None, typer.Option(help="Number of epochs. Default: 1.", rich_help_panel=WHAT)] = None,
    steps: Annotated[
        int | None, typer.Option(help="Number of steps, instead of epochs.", rich_help_panel=WHAT)
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="accuracy=X", help="Stop at this accuracy on the test split.", rich_help_panel=WHAT),
    ] = None,
    framework: Annotated[
        list[str] | None, typer.Option(help="Framework. Repeatable. Default: every usable one.", rich_help_panel=HOW)
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Items per step. Default: the network's own.", rich_help_panel=HOW)
    ] = None,
    precision: PrecisionOption = None,
    execution: Annotated[
        str | None, typer.Option(help="eager, compiled, cudagraph or compiled-cudagraph.", rich_help_panel=HOW)
    ] = None,
    threads: ThreadsOption = None,
    cpu: CpuOption = False,
    gpus: GpusOption = None,
    python: PythonOption = None,
    seeds: Annotated[
        int, typer.Option(help="Number of trainings, each with other weights and order.", rich_help_panel=MEASURING)
    ] = 3,
    evaluate_every: Annotated[
        int | None, typer.Option(help="Steps between evaluations. Default: one epoch.", rich_help_panel=MEASURING)
    ] = None,
    deadline: Annotated[
        float, typer.Option(help="Give up on a training after this many seconds.", rich_help_panel=MEASURING)
    ] = 3600.0,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat finished trainings.", rich_help_panel=MEASURING)
    ] = False,
    price_per_hour: Annotated[
        float | None,
        typer.Option(help="Price of the machine, to print what a training costs.", rich_help_panel=OUTPUT),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Train on real data to a goal; print accuracy on the test split, seconds, joules and cost."""
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
        ready = make_ready(home(), source or entry.dataset, PACKED, packing.packed)
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
            environment=Environment(machine=asked.machine, revision=find_revision(Path.cwd())).as_json(),
        )
        with TrainingProgress(talk_console()) as progress:
            carry_out_courses(curriculum, campaign, progress)
        wanted = set(curriculum.cells)
        courses = [c for c in store.courses(campaign.machine) if c.cell in wanted]
    _show(curriculum, courses, telling)


def _show(curriculum: Curriculum, courses: Sequence[Any], telling: Telling) -> None:
    goal, source = curriculum.goal.words(), curriculum.files.source
    asked = [c for c in courses if (c.goal, c.source) == (goal, source) and c.seed <= curriculum.seeds]
    results = course_results(asked)
    if telling.json:
        print_json([to_json(result, telling.price_per_hour) for result in results])
    else:
        for part in learning_tables(results, telling.price_per_hour):
            data_console().print(part)
    if any(course.outcome != TRAINED for result in results for course in result.courses):
        raise typer.Exit(1)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received {value}.")
    return value


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


app = one_command(
    train,
    """
    netdyno train --network lenet --epochs 1
    netdyno train --network lenet --framework pytorch-2 --until accuracy=0.985
    """,
)
