"""`netdyno run`: measure a suite, or one cell described by flags."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from msgspec import structs
from rich.table import Table
from rich.text import Text

from netdyno.bench.campaign import Campaign, recover
from netdyno.bench.cells import Bench
from netdyno.bench.plan import BAD, Plan, PlannedRun
from netdyno.bench.search.compile_ahead import cells_to_compile
from netdyno.bench.search.largest_batch import SearchOptions, largest_batch
from netdyno.bench.session import Place, Session, open_session, usual_bench, without_missing_gpus
from netdyno.bench.settings import Settings
from netdyno.bench.suite import Suite, read_suite
from netdyno.bench.suites import DEFAULT, find_suite
from netdyno.cli.command import one_command
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
)
from netdyno.devices.machine import Machine, describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import read_given
from netdyno.frameworks.spec import find_spec
from netdyno.report.figures import LEARN
from netdyno.report.published.survey import published_thread_times
from netdyno.report.terminal.availability import availability
from netdyno.report.terminal.conclusion import conclusion
from netdyno.report.terminal.console import data_console, talk_console
from netdyno.report.terminal.progress import Compiling, Packing, Progress, Tries, duration
from netdyno.report.terminal.tables import how, new_table
from netdyno.report.terminal.threads import thread_tables
from netdyno.report.terminal.trainings.learning import tables_of_every_kind
from netdyno.report.terminal.trainings.nodes import nodes_tables
from netdyno.results.proof import Proved
from netdyno.workloads import find_workload

RENEWED = {"framework": "framework version", "worker": "worker (another netdyno)", "graph": "graph"}
MAX = "max"  # batch: the largest that fits
MOST_LINES = 1000  # of a plan that is printed

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
DRY_RUN = "Print the plan and its estimated time; measure nothing. A network's own file is executed."
DryRunOption = Annotated[bool, typer.Option("--dry-run", help=DRY_RUN, rich_help_panel=OUTPUT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the plan is to be carried out."""

    again: bool
    retry: bool
    dry_run: bool
    largest: bool  # batch that fits, in place of the cell's own


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
    bench = usual_bench(machine)
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
    asked = Asked(again=again, retry=retry, dry_run=dry_run, largest=batch == MAX)
    place = Place(bench=bench, machine=machine, store=store_location(context), given=read_given(python or ()))
    with (
        Packing(talk_console()) as packing,
        open_session(chosen, place, packing.packed, measures=not dry_run) as session,
    ):
        _measure(session, asked)


def read_batch(given: str | None, network: str | None) -> int | None:
    """The number that --batch names; None where it is not given or the largest is wanted."""
    if given == MAX and network is None:
        raise NetdynoError("--batch max: expected the options of one cell, received no --network.")
    if given is None or given == MAX:
        return None
    try:
        return int(given)
    except ValueError:
        raise NetdynoError(f"--batch: expected a whole number or '{MAX}', received '{given}'.") from None


def _choose(suite: str | None, fields: dict[str, Any], bench: Bench) -> Suite:
    """A suite, or a suite of the one cell that the flags describe."""
    if suite and fields:
        flag = next(iter(fields))
        raise NetdynoError(f"expected a suite or the flags of one cell, received '{suite}' and --{flag}.")
    if not fields:
        path = find_suite(suite or DEFAULT)
        found = read_suite(path, bench.complete)
        for note in found.notes:
            talk_console().print(f"{path.name}: {note}")
        return found
    return Suite(name="cell", cells=(bench.complete(fields),), settings=Settings())


def _possible(suite: Suite, machine: Machine) -> Suite:
    """Without the cells that need a GPU where there is none."""
    possible = without_missing_gpus(suite, machine)
    if left_out := len(suite.cells) - len(possible.cells):
        talk_console().print(f"Left out, {left_out} of {len(suite.cells)} cells: they need a GPU, and none is here.")
    return possible


def _measure(session: Session, asked: Asked) -> None:
    talk = talk_console()
    if asked.largest:
        session = _at_largest_batch(session, asked)
    for name, reason in session.missing.items():
        talk.print(f"Left out, {name}: {reason}", markup=False)
    if not asked.dry_run:
        report_recovery(session.campaign)
    plan = session.plan(again=asked.again, retry=asked.retry)
    expected = session.expected(plan)
    talk.print(_opening(session.suite.name, len(session.cells), plan, sum(expected.values())))
    for name, count in plan.renewed.items():
        cells = f"{count} cell{'s begin' if count > 1 else ' begins'}"
        talk.print(f"{cells} a new series: not the same {RENEWED.get(name, name)} as in earlier runs.")
    if asked.dry_run:
        data_console().print(_plan_table(plan, expected))
        if len(plan.runs) > MOST_LINES:
            talk.print(f"… and {len(plan.runs) - MOST_LINES:,} more runs.")
        return
    if cells_to_compile(plan):
        with Compiling(talk) as compiling:
            session = session.compiled_ahead(plan, compiling)
    with Progress(talk, plan, expected) as progress:
        session.carry_out(plan, progress)
    _show(session)


def _at_largest_batch(session: Session, asked: Asked) -> Session:
    """The session of one cell, at the largest batch that fits."""
    if asked.dry_run:
        raise NetdynoError(f"--dry-run: expected a batch in numbers, received '{MAX}', which must be tried out.")
    talk, (cell,) = talk_console(), session.suite.cells
    limit = largest_batch(cell, session.campaign, Tries(talk), SearchOptions(again=asked.again))
    if limit.fails is None:
        talk.print(f"The largest batch that was tried fits: {limit.fits}.")
    else:
        talk.print(f"Batch {limit.fits} fits, {limit.fails} does not: {limit.reason}", markup=False)
    return replace(session, suite=replace(session.suite, cells=(structs.replace(cell, batch=limit.fits),)))


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
    goals = ("goal",) if any(run.cell.goal for run in plan.runs) else ()
    columns = ("#", "network", "framework", "how", *goals, "batch", "series", "run", "about")
    table = new_table(*columns, right=("#", "batch"))
    for place, run in enumerate(plan.runs[:MOST_LINES], 1):
        cell = run.cell
        words = (f"{cell.network}/{cell.dataset}", cell.framework, how(cell), *(cell.goal for _ in goals))
        table.add_row(str(place), *words, str(cell.batch), str(run.series), str(run.number), duration(expected[run]))
    return table


def _show(session: Session) -> None:
    """The table of what was requested, and of what is available of it; exit 1 if something went wrong in it."""
    found, store = session.results(), session.campaign.store
    timed = [result for result in found if result.cell.workload != LEARN]
    cells = [cell for cell in session.suite.cells if cell.workload != LEARN]
    for part in tables_of_every_kind(found):
        data_console().print(part)
    if len({cell.framework for cell in cells}) > 1:
        for part in availability(cells, timed, session.missing):
            data_console().print(part)
    for part in thread_tables(timed, published_thread_times()):
        data_console().print(part)
    for part in nodes_tables(found):
        data_console().print(part)
    if sentence := conclusion(timed):
        data_console().print("", Text(sentence), sep="\n")
    unproved = Proved(store.proofs(session.campaign.machine)).missing(found)
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
