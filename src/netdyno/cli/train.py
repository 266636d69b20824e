"""`netdyno train`: train on real data to a goal, and say how good it got and what it took."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from netdyno.bench.campaign import Campaign
from netdyno.bench.session import Place, Session, open_session, usual_bench
from netdyno.bench.settings import Settings
from netdyno.bench.suite import Suite
from netdyno.bench.suites import default_framework
from netdyno.cli.command import one_command
from netdyno.cli.options import (
    HOW,
    MEASURING,
    OUTPUT,
    WHAT,
    CpuOption,
    DatasetOption,
    FrameworksOption,
    GpusOption,
    JsonOption,
    PrecisionOption,
    PythonOption,
    SetOption,
    ThreadsOption,
    checked_price,
    device_of,
    given_only,
    store_location,
)
from netdyno.cli.run import report_recovery
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, locate, read_given
from netdyno.frameworks.spec import find_spec, specs
from netdyno.report.figures import simple_scores
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.progress import Packing, TrainingProgress
from netdyno.report.terminal.trainings.learning import cost_of, learning_tables
from netdyno.results.cell import Cell
from netdyno.results.record import MEASURED, Record
from netdyno.results.result import Result, results_of, to_json
from netdyno.results.selectors import newest_series
from netdyno.text import shown
from netdyno.workloads.goal import Goal

LEARN = "learn"
LARGEST = 2**31 - 1  # number of epochs, steps or seeds
MOST_EPOCHS = 100  # while an accuracy is sought and nobody says how long to try

NETWORK = "Network of the zoo, or path/to/file.py:function."
TrainedOption = Annotated[str, typer.Option(help=NETWORK, rich_help_panel=WHAT)]
SOURCE = "Train on the files of another dataset: fashion-mnist, shapes, …."
SourceOption = Annotated[str | None, typer.Option(help=SOURCE, rich_help_panel=WHAT)]
EpochsOption = Annotated[float | None, typer.Option(help="Number of epochs. Default: 1.", rich_help_panel=WHAT)]
StepsOption = Annotated[int | None, typer.Option(help="Number of steps, instead of epochs.", rich_help_panel=WHAT)]
UNTIL = "Stop at this accuracy on the test split."
UntilOption = Annotated[str | None, typer.Option(metavar="accuracy=X", help=UNTIL, rich_help_panel=WHAT)]
BATCH = "Items per step. Default: the network's own."
BatchOption = Annotated[int | None, typer.Option(help=BATCH, rich_help_panel=HOW)]
EXECUTION = "eager, compiled, cudagraph or compiled-cudagraph."
ExecutionOption = Annotated[str | None, typer.Option(help=EXECUTION, rich_help_panel=HOW)]
SEEDS = "Number of trainings, each with other weights and order."
SeedsOption = Annotated[int, typer.Option(help=SEEDS, rich_help_panel=MEASURING)]
EVALUATE = "Steps between evaluations. Default: one epoch."
EvaluateOption = Annotated[int | None, typer.Option(help=EVALUATE, rich_help_panel=MEASURING)]
DEADLINE = "Give up on a training after this many seconds."
DeadlineOption = Annotated[float, typer.Option(help=DEADLINE, rich_help_panel=MEASURING)]
AgainOption = Annotated[bool, typer.Option("--again", help="Repeat finished trainings.", rich_help_panel=MEASURING)]
PRICE = "Price of the machine, to print what a training costs."
PriceOption = Annotated[float | None, typer.Option(help=PRICE, rich_help_panel=OUTPUT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How results are printed."""

    json: bool
    price_per_hour: float | None


def train(
    context: typer.Context,
    network: TrainedOption = "lenet/mnist",
    options: SetOption = None,
    dataset: DatasetOption = None,
    source: SourceOption = None,
    epochs: EpochsOption = None,
    steps: StepsOption = None,
    until: UntilOption = None,
    framework: FrameworksOption = None,
    batch: BatchOption = None,
    precision: PrecisionOption = None,
    execution: ExecutionOption = None,
    threads: ThreadsOption = None,
    cpu: CpuOption = False,
    gpus: GpusOption = None,
    python: PythonOption = None,
    seeds: SeedsOption = 3,
    evaluate_every: EvaluateOption = None,
    deadline: DeadlineOption = 3600.0,
    again: AgainOption = False,
    price_per_hour: PriceOption = None,
    json: JsonOption = False,
) -> None:
    """Train on real data to a goal; print accuracy on the test split, seconds, joules and cost."""
    machine = describe_machine()
    bench = usual_bench(machine)
    given = read_given(python or ())
    goal, count, price = read_goal(epochs, steps, until), _positive("--seeds", seeds), checked_price(price_per_hour)
    fields = given_only(
        network=network, dataset=dataset, source=source, goal=goal.words(), batch=batch, precision=precision,
        execution=execution, threads=threads, device=device_of(gpus, cpu, len(machine.gpus)), workload=LEARN,
        options=options or None,
    )  # fmt: skip
    cells = [bench.complete({**fields, "framework": name}) for name in _frameworks(framework, given)]
    if evaluate_every is not None:
        _positive("--evaluate-every", evaluate_every)
    settings = Settings(runs=count, evaluate_every=evaluate_every, deadline_s=deadline)
    asked = Asked(suite=Suite(name=LEARN, cells=tuple(cells), settings=settings), again=again)
    place = Place(bench=bench, machine=machine, store=store_location(context), given=given)
    _learn(asked, place, Telling(json=json, price_per_hour=price))


def read_goal(epochs: float | None, steps: int | None, until: str | None) -> Goal:
    """What the flags ask for; an accuracy is sought for so long as they say."""
    if epochs is not None and steps is not None:
        raise NetdynoError("expected --epochs or --steps, received both.")
    for name, value in (("--epochs", epochs), ("--steps", steps)):
        if value is not None and not 0 < value <= LARGEST:  # nor is NaN
            raise NetdynoError(f"{name}: expected a number over 0, at most {LARGEST:,}, received {shown(value)}.")
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

    suite: Suite
    again: bool


def _learn(asked: Asked, place: Place, telling: Telling) -> None:
    with Packing(talk_console()) as packing, open_session(asked.suite, place, packing.packed) as session:
        if session.missing:
            raise NetdynoError(next(iter(session.missing.values())))
        report_recovery(session.campaign)
        with TrainingProgress(talk_console()) as progress:
            continued = {} if asked.again else _continued(session)
            session.carry_out(session.plan(again=asked.again, continued=continued), progress)
        results = session.results()
    _show([run for result in results for run in result.records if run.number <= asked.suite.settings.runs], telling)


def _continued(session: Session) -> dict[Cell, int]:
    """Series to go on with where a seed failed: without the failed run, which is repeated."""
    found = {cell: _series_to_continue(cell, session.campaign) for cell in session.cells}
    return {cell: series for cell, series in found.items() if series}


def _series_to_continue(cell: Cell, campaign: Campaign) -> int | None:
    """The series in which failed runs of the newest are repeated, beside its other runs; None if none failed.

    One that was prepared so and then cut off has a higher number than the newest, and none of its runs is newer.
    """
    runs = campaign.store.records(cell.columns(), machine=campaign.machine)
    newest = newest_series(runs)
    failed = [run for run in newest if not run.is_measured]
    if not failed:
        return None
    last = max(run.series for run in runs)
    if len(failed) == len(newest) and last > failed[0].series:
        return last
    return campaign.store.leave_behind(failed)


def _show(runs: Sequence[Record], telling: Telling) -> None:
    results = results_of(runs)
    if telling.json:
        print_json([_as_json(result, telling.price_per_hour) for result in results])
    else:
        for part in learning_tables(results, telling.price_per_hour):
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
    simple = simple_scores([result])
    return {**to_json(result), "reached": result.reached, "simple": simple, **cost, "seeds": seeds}


def _positive(name: str, value: int) -> int:
    if not 1 <= value <= LARGEST:
        raise NetdynoError(f"{name}: expected a whole number over 0, at most {LARGEST:,}, received {shown(value)}.")
    return value


app = one_command(
    train,
    """
    netdyno train --network lenet --epochs 1
    netdyno train --network lenet --until accuracy=0.985
    """,
)
