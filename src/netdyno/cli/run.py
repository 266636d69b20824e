"""`netdyno run`: measure a suite, or one cell described by flags."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from netdyno.bench.campaign import Campaign, carry_out, recover
from netdyno.bench.cells import Bench
from netdyno.bench.plan import BAD, Plan, PlannedRun, Renewal, expected_s, make_plan
from netdyno.bench.revision import find_revision
from netdyno.bench.search.compile_ahead import cells_to_compile, compile_ahead
from netdyno.bench.settings import Settings
from netdyno.bench.suite import Suite, read_suite
from netdyno.bench.suites import DEFAULT, default_framework, find_suite
from netdyno.cli.command import one_command
from netdyno.cli.largest import MAX, at_largest_batch, read_batch
from netdyno.cli.options import (
    HOW,
    MEASURING,
    OUTPUT,
    WHAT,
    CpuOption,
    DatasetOption,
    GpusOption,
    NetworkOption,
    PrecisionOption,
    PythonOption,
    SetOption,
    ThreadsOption,
    device_of,
    given_only,
    store_location,
    threads_of,
)
from netdyno.devices.environment import Environment
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.devices.nvidia.gpus import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, Interpreter, find_interpreter, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec
from netdyno.graph.wire import digest
from netdyno.report.published.survey import published_thread_times
from netdyno.report.terminal.availability import availability
from netdyno.report.terminal.conclusion import conclusion
from netdyno.report.terminal.console import data_console, talk_console
from netdyno.report.terminal.progress import Compiling, Packing, Progress, duration
from netdyno.report.terminal.tables import how, new_table, results_tables
from netdyno.report.terminal.threads import thread_tables
from netdyno.results.cell import Cell
from netdyno.results.proof import unproved_frameworks
from netdyno.results.result import results_of
from netdyno.results.store import open_store
from netdyno.runtime.folders import RunFolders, only_measurement
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads import find_workload
from netdyno.workloads.inputs import Inputs, prepare_inputs

SuiteArgument = Annotated[str | None, typer.Argument(metavar="[SUITE]", help="TOML file or name of a bundled suite.")]
WorkloadOption = Annotated[str, typer.Option(help="Kind of measurement.", rich_help_panel=WHAT)]
FrameworkOption = Annotated[
    str | None, typer.Option(help="Framework to run it in; see netdyno frameworks.", rich_help_panel=HOW)
]
BATCH = "Items per step. Default: the network's own. max: the largest that fits."
BatchOption = Annotated[str | None, typer.Option(metavar="N|max", help=BATCH, rich_help_panel=HOW)]
EXECUTION = "eager, compiled, cudagraph, compiled-cudagraph, or fastest (tries all of them)."
ExecutionOption = Annotated[str | None, typer.Option(help=EXECUTION, rich_help_panel=HOW)]
DATA = "synthetic (default), packed (files, one loader for all) or native (the framework's own pipeline)."
DataOption = Annotated[str | None, typer.Option(help=DATA, rich_help_panel=HOW)]
RUNS = "Fresh processes per cell. Default: 3."
RunsOption = Annotated[int | None, typer.Option(help=RUNS, rich_help_panel=MEASURING)]
SECONDS = "Longest timed part of a run, in seconds. Default: 10."
SecondsOption = Annotated[float | None, typer.Option(help=SECONDS, rich_help_panel=MEASURING)]
TARGET = "Stop a run once the 95 % interval of its median is within ± TARGET. Default: 0.005."
TargetOption = Annotated[float | None, typer.Option(help=TARGET, rich_help_panel=MEASURING)]
DEADLINE = "Give up on a run after this many seconds. Default: 900."
DeadlineOption = Annotated[float | None, typer.Option(help=DEADLINE, rich_help_panel=MEASURING)]
SEED = "Seed for the run order. Default: 0."
SeedOption = Annotated[int | None, typer.Option(help=SEED, rich_help_panel=MEASURING)]
SPLIT = "Also time forward, backward and update separately."
SplitOption = Annotated[bool, typer.Option("--split", help=SPLIT, rich_help_panel=MEASURING)]
AGAIN = "Measure finished cells again, as a new series."
AgainOption = Annotated[bool, typer.Option("--again", help=AGAIN, rich_help_panel=MEASURING)]
RetryOption = Annotated[bool, typer.Option("--retry", help="Re-run failed runs.", rich_help_panel=MEASURING)]
DRY_RUN = "Print the plan and its estimated time; measure nothing."
DryRunOption = Annotated[bool, typer.Option("--dry-run", help=DRY_RUN, rich_help_panel=OUTPUT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the plan is to be carried out."""

    again: bool
    retry: bool
    dry_run: bool
    largest: bool  # batch that fits, in place of the cell's own
    pythons: Given
    store: str


def run(
    context: typer.Context,
    suite: SuiteArgument = None,
    workload: WorkloadOption = "train",
    network: NetworkOption = None,
    options: SetOption = None,
    dataset: DatasetOption = None,
    framework: FrameworkOption = None,
    batch: BatchOption = None,
    precision: PrecisionOption = None,
    execution: ExecutionOption = None,
    data: DataOption = None,
    threads: ThreadsOption = None,
    cpu: CpuOption = False,
    gpus: GpusOption = None,
    python: PythonOption = None,
    runs: RunsOption = None,
    seconds: SecondsOption = None,
    target: TargetOption = None,
    deadline: DeadlineOption = None,
    seed: SeedOption = None,
    split: SplitOption = False,
    again: AgainOption = False,
    retry: RetryOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Measure a suite, or one cell described by options. Without arguments: the default suite."""
    machine = describe_machine()
    bench = Bench(threads=threads_of(machine), folder=Path.cwd(), framework=default_framework())
    device = device_of(gpus, cpu, len(machine.gpus)) if gpus is not None or cpu else None
    find_workload(workload)
    fields = given_only(
        network=network, dataset=dataset, framework=framework, batch=read_batch(batch, network), precision=precision,
        execution=execution, data=data, threads=threads, device=device, options=options or None,
    )  # fmt: skip
    fields |= {"workload": workload} if fields else {}
    chosen = _possible(_choose(suite, fields, bench), machine)
    changes = given_only(
        split=split or None, runs=runs, seconds=seconds, target=target, deadline_s=deadline, seed=seed
    )
    chosen = replace(chosen, settings=replace(chosen.settings, **changes))
    asked = Asked(
        again=again, retry=retry, dry_run=dry_run, largest=batch == MAX, pythons=read_given(python or ()),
        store=store_location(context),
    )  # fmt: skip
    _measure(chosen, bench, machine, asked)


def _choose(suite: str | None, fields: dict[str, Any], bench: Bench) -> Suite:
    """A suite, or a suite of the one cell that the flags describe."""
    if suite and fields:
        flag = next(iter(fields))
        raise NetdynoError(f"expected a suite or the flags of one cell, received '{suite}' and --{flag}.")
    if not fields:
        path = find_suite(suite or DEFAULT)
        return read_suite(path, bench.complete)
    return Suite(name="cell", cells=(bench.complete(fields),), settings=Settings())


def _possible(suite: Suite, machine: Machine) -> Suite:
    """Without the cells that need a GPU where there is none."""
    cells = tuple(cell for cell in suite.cells if cell.device == "cpu" or machine.gpus)
    if not cells:
        why = machine.gpu_problem or "a machine with none"
        raise NetdynoError(f"{suite.name}: expected a GPU, received {why}.", hint="See: netdyno doctor")
    if left_out := len(suite.cells) - len(cells):
        talk_console().print(f"Left out, {left_out} of {len(suite.cells)} cells: they need a GPU, and none is here.")
    return replace(suite, cells=cells)


def _measure(suite: Suite, bench: Bench, machine: Machine, asked: Asked) -> None:
    interpreters, missing = _interpreters(suite, asked.pythons)
    with ExitStack() as stack:
        if not asked.dry_run:
            stack.enter_context(only_measurement(home()))
        store = stack.enter_context(open_store(asked.store))
        campaign = Campaign(
            bench=bench,
            store=store,
            folders=RunFolders(home=home(), store_name=asked.store),
            settings=suite.settings,
            archive=pack_worker(home() / "workers"),
            interpreters=interpreters,
            machine=machine_id(machine),
            gpus=visible_gpus()[:1],
            inputs={} if asked.dry_run else _inputs(suite, bench),
            environment=Environment(machine=machine, revision=find_revision(Path.cwd())).as_json(),
        )
        if asked.largest:
            (cell,) = suite.cells
            suite = replace(suite, cells=(at_largest_batch(cell, campaign, asked),))
        _carry_out(suite, campaign, asked, missing)


def _inputs(suite: Suite, bench: Bench) -> Inputs:
    """The files of cells with real data, prepared before anything is measured."""
    with Packing(talk_console()) as packing:
        return prepare_inputs(suite.cells, bench.entry_of, home(), packing.packed)


def _interpreters(suite: Suite, given: Given) -> tuple[dict[str, Interpreter], dict[str, str]]:
    """Where each framework of the suite runs, and why some do not; if none does, that is an error."""
    found, missing = {}, {}
    for name in sorted({cell.framework for cell in suite.cells}):
        try:
            found[name] = find_interpreter(find_spec(name), given)
        except NetdynoError as error:
            if name in given:
                raise
            missing[name] = error
    if not found:
        raise next(iter(missing.values()))
    return found, {name: str(error) for name, error in missing.items()}


def _carry_out(suite: Suite, campaign: Campaign, asked: Asked, missing: Mapping[str, str]) -> None:
    talk = talk_console()
    cells = [cell for cell in suite.cells if cell.framework not in missing]
    for name, reason in missing.items():
        talk.print(f"Left out, {name}: {reason}", markup=False)
    if not asked.dry_run:
        report_recovery(campaign)
    history = campaign.store.finished(campaign.machine)
    digests = {cell: digest(campaign.bench.programme(cell)) for cell in cells}
    renewal = Renewal(again=asked.again, retry=asked.retry, digests=digests)
    plan = make_plan(cells, suite.settings, history, renewal)
    expected = {run: expected_s(run, suite.settings, history) for run in plan.runs}
    talk.print(_opening(suite.name, len(cells), plan, sum(expected.values())))
    if asked.dry_run:
        data_console().print(_plan_table(plan, expected))
        return
    if to_compile := cells_to_compile(plan):
        with Compiling(talk) as compiling:
            campaign = replace(campaign, choices=compile_ahead(to_compile, campaign, compiling))
    with Progress(talk, plan, expected) as progress:
        carry_out(plan, campaign, progress)
    _show(suite.cells, campaign, missing)


def report_recovery(campaign: Campaign) -> None:
    """Store what a killed netdyno had finished, and say so; or say why it could not be done."""
    found = recover(campaign)
    if found.record:
        talk_console().print(
            f"Recovered a finished run of {found.record.cell.label()} that had not been written down."
        )
    if found.problem:
        talk_console().print(f"Not recovered: {found.problem}. Its folder is kept.", markup=False)


def _opening(name: str, count: int, plan: Plan, seconds: float) -> str:
    cells = f"{count} cell{'s' if count > 1 else ''}"
    before = f" ({plan.finished} finished earlier; --again repeats them)" if plan.finished else ""
    return f"{name}: {cells}, {len(plan.runs)} runs to make{before}, about {duration(seconds)}."


def _plan_table(plan: Plan, expected: Mapping[PlannedRun, float]) -> Table:
    table = new_table("#", "network", "framework", "how", "batch", "series", "run", "about", right=("#", "batch"))
    for place, run in enumerate(plan.runs, 1):
        cell = run.cell
        words = (f"{cell.network}/{cell.dataset}", cell.framework, how(cell), str(cell.batch))
        table.add_row(str(place), *words, str(run.series), str(run.number), duration(expected[run]))
    return table


def _show(cells: Sequence[Cell], campaign: Campaign, missing: Mapping[str, str]) -> None:
    """The table of what was asked for, and of what is available of it; exit 1 if something went wrong in it."""
    wanted = set(cells)
    records = campaign.store.records(machine=campaign.machine)
    found = results_of(record for record in records if record.cell in wanted)
    for part in results_tables(found):
        data_console().print(part)
    if len({cell.framework for cell in cells}) > 1:
        for part in availability(cells, found, missing):
            data_console().print(part)
    for part in thread_tables(found, published_thread_times()):
        data_console().print(part)
    if sentence := conclusion(found):
        data_console().print("", Text(sentence), sep="\n")
    unproved = unproved_frameworks(found, campaign.store.proofs(campaign.machine))
    if unproved := [name for name in unproved if not find_spec(name).is_instrument]:
        talk_console().print(f"Not proved equal on this machine: {', '.join(unproved)}. See: netdyno verify")
    if any(record.outcome in BAD for result in found for record in result.records):
        talk_console().print("Some runs did not end well; --retry repeats them.")
        raise typer.Exit(1)


app = one_command(
    run,
    """
    netdyno run --network resnet50/cifar10 --batch 16
    netdyno run then-and-now --dry-run
    """,
)
