"""`netdyno train`: train on real data to a goal, and say how good it got and what it took."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs, to_builtins

from netdyno.bench.campaign import Campaign, carry_out
from netdyno.bench.cells import Bench
from netdyno.bench.plan import Plan, Renewal, make_plan
from netdyno.bench.revision import find_revision
from netdyno.bench.settings import Settings
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
    device_of,
    given_only,
    store_location,
    threads_of,
)
from netdyno.cli.run import report_recovery
from netdyno.data.packing import PACKED
from netdyno.devices.environment import Environment
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.nvidia.gpus import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter, locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec, specs
from netdyno.graph.wire import digest
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.learning import cost_of, learning_tables
from netdyno.report.terminal.progress import Packing, TrainingProgress
from netdyno.results.cell import Cell
from netdyno.results.record import MEASURED, Record
from netdyno.results.result import Result, results_of, to_json
from netdyno.results.selectors import newest_series
from netdyno.results.store import Store, open_store
from netdyno.runtime.folders import RunFolders, only_measurement
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.inputs import Inputs, prepare_inputs
from netdyno.workloads.learn import Goal

LEARN = "learn"
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
    """How results are told."""

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
    bench = Bench(threads=threads_of(machine), folder=Path.cwd(), framework=default_framework())
    given = read_given(python or ())
    fields = given_only(
        network=network, dataset=dataset, batch=batch, precision=precision, execution=execution, threads=threads,
        device=device_of(gpus, cpu, len(machine.gpus)), data=PACKED, workload=LEARN,
        options=options or None,
    )  # fmt: skip
    goal, count = read_goal(epochs, steps, until), _positive("--seeds", seeds)
    cells = [bench.complete({**fields, "framework": name}) for name in _frameworks(framework, given)]
    cells = [structs.replace(cell, goal=goal.words(), source=source or cell.dataset) for cell in cells]
    asked = Asked(
        cells=cells, seeds=count, evaluate_every=evaluate_every, again=again, bench=bench, machine=machine,
        given=given, deadline_s=deadline,
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
        inputs = prepare_inputs(asked.cells, asked.bench.entry_of, home(), packing.packed)
    with only_measurement(home()), open_store(location) as store:
        campaign = _campaign(asked, inputs, store, location)
        report_recovery(campaign)
        with TrainingProgress(talk_console()) as progress:
            carry_out(_plan(asked, campaign), campaign, progress)
        wanted = set(asked.cells)
        runs = [run for run in store.records({"workload": LEARN}, campaign.machine) if run.cell in wanted]
    _show([run for run in runs if run.number <= asked.seeds], telling)


def _plan(asked: Asked, campaign: Campaign) -> Plan:
    """A run for each seed that is missing, the cells in turn; failed ones are repeated, with --again all of them."""
    store, digests = campaign.store, {cell: digest(asked.bench.programme(cell)) for cell in asked.cells}
    repeated = [] if asked.again else asked.cells
    continued = {cell: _series_to_continue(cell, campaign) for cell in repeated}
    renewal = Renewal(
        again=asked.again,
        retry=False,
        digests=digests,
        continued={cell: series for cell, series in continued.items() if series},
    )
    return make_plan(asked.cells, campaign.settings, store.finished(campaign.machine), renewal)


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


def _campaign(asked: Asked, inputs: Inputs, store: Store, location: str) -> Campaign:
    names = {cell.framework for cell in asked.cells}
    return Campaign(
        bench=asked.bench,
        store=store,
        folders=RunFolders(home=home(), store_name=location),
        settings=Settings(runs=asked.seeds, deadline_s=asked.deadline_s),
        archive=pack_worker(home() / "workers"),
        interpreters={name: find_interpreter(find_spec(name), asked.given) for name in names},
        machine=machine_id(asked.machine),
        evaluate_every=asked.evaluate_every,
        inputs=inputs,
        gpus=visible_gpus()[:1],
        environment=Environment(machine=asked.machine, revision=find_revision(Path.cwd())).as_json(),
    )


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
    return {**to_json(result), "reached": result.reached, **cost, "seeds": seeds}


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise NetdynoError(f"{name}: expected a whole number over 0, received {value}.")
    return value


app = one_command(
    train,
    """
    netdyno train --network lenet --epochs 1
    netdyno train --network lenet --until accuracy=0.985
    """,
)
