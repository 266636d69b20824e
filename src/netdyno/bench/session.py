"""A measurement from start to end: where frameworks run, the store, the plan, the runs and their results."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from netdyno.bench.campaign import Campaign, carry_out
from netdyno.bench.cells import Bench
from netdyno.bench.plan import History, Plan, PlannedRun, Renewal, expected_s, make_plan
from netdyno.bench.revision import find_revision
from netdyno.bench.search.compile_ahead import cells_to_compile, compile_ahead
from netdyno.bench.suite import Suite
from netdyno.bench.suites import default_framework
from netdyno.data.packing import Progress
from netdyno.devices.environment import Environment
from netdyno.devices.machine import Machine, machine_id
from netdyno.devices.nvidia.gpus import visible_gpus
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, Interpreter, find_interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import find_spec
from netdyno.graph.wire import digest
from netdyno.results.cell import Cell
from netdyno.results.record import Record
from netdyno.results.result import Result, results_of
from netdyno.results.store import open_store
from netdyno.runtime.folders import RunFolders, only_measurement
from netdyno.runtime.observer import Observer
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.inputs import input_key, prepare_inputs
from netdyno.workloads.probe import Choice
from netdyno.workloads.workload import INPUTS, SYNTHETIC

Expected = Mapping[PlannedRun, float]
"""Seconds that each run will take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A suite, everything its runs need, and the frameworks that cannot run here with the reason."""

    suite: Suite
    campaign: Campaign
    missing: Mapping[str, str]

    @property
    def cells(self) -> list[Cell]:
        """Those whose framework can run here."""
        return [cell for cell in self.suite.cells if cell.framework not in self.missing]

    def plan(self, *, again: bool = False, retry: bool = False, continued: Mapping[Cell, int] | None = None) -> Plan:
        """The runs that are still to be made."""
        digests = {cell: digest(self.campaign.bench.programme(cell)) for cell in self.cells}
        series = {**(continued or {}), **self._series_on_new_data()}
        renewal = Renewal(again=again, retry=retry, digests=digests, continued=series)
        return make_plan(self.cells, self.suite.settings, self._history(), renewal)

    def expected(self, plan: Plan) -> Expected:
        """How long each run of a plan will take."""
        history = self._history()
        return {run: expected_s(run, self.suite.settings, history) for run in plan.runs}

    def compiled_ahead(self, plan: Plan, observer: Observer[Choice | None]) -> "Session":
        """The session after compiling what the plan's first runs would compile, several cells at a time."""
        choices = compile_ahead(cells_to_compile(plan), self.campaign, observer)
        return replace(self, campaign=replace(self.campaign, choices=choices))

    def carry_out(self, plan: Plan, observer: Observer[Record]) -> list[Record]:
        """Make every run of the plan."""
        return carry_out(plan, self.campaign, observer)

    def results(self) -> list[Result]:
        """What is stored of the suite's cells, measured now or earlier."""
        wanted = set(self.suite.cells)
        records = self.campaign.store.records(machine=self.campaign.machine)
        return results_of(record for record in records if record.cell in wanted)

    def _series_on_new_data(self) -> dict[Cell, int]:
        """A new series for each cell whose newest runs were made on other data than what is here now."""
        found: dict[Cell, int] = {}
        for cell in self.cells:
            inputs = self.campaign.inputs.get(input_key(cell)) if cell.data != SYNTHETIC else None
            runs = self.campaign.store.records(cell.columns(), machine=self.campaign.machine) if inputs else []
            newest = max((run.series for run in runs), default=0)
            before = [run.settings.get(INPUTS) for run in runs if run.series == newest]
            if inputs and any(known and known != inputs.ready.digests for known in before):
                found[cell] = newest + 1
        return found

    def _history(self) -> History:
        return self.campaign.store.finished(self.campaign.machine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a session measures and stores."""

    bench: Bench
    machine: Machine
    store: str  # path or URL
    given: Given  # interpreters that the user named


@contextmanager
def open_session(suite: Suite, place: Place, packed: Progress, *, measures: bool = True) -> Iterator[Session]:
    """A session for a suite; only one may measure on a machine at a time. `packed` follows files being written."""
    interpreters, missing = _interpreters(suite, place.given)
    with ExitStack() as stack:
        if measures:
            stack.enter_context(only_measurement(home()))
        store = stack.enter_context(open_store(place.store))
        inputs = prepare_inputs(suite.cells, place.bench.entry_of, home(), packed) if measures else {}
        campaign = Campaign(
            bench=place.bench,
            store=store,
            folders=RunFolders(home=home(), store_name=place.store),
            settings=suite.settings,
            archive=pack_worker(home() / "workers"),
            interpreters=interpreters,
            machine=machine_id(place.machine),
            gpus=visible_gpus()[:1],
            inputs=inputs,
            environment=Environment(machine=place.machine, revision=find_revision(Path.cwd())).as_json(),
        )
        yield Session(suite=suite, campaign=campaign, missing=missing)


def usual_bench(machine: Machine) -> Bench:
    """Every usable core, paths from the current folder, and the first framework."""
    threads = max(1, int(machine.usable_cores))  # a quota may leave a fraction of one
    return Bench(threads=threads, folder=Path.cwd(), framework=default_framework())


def without_missing_gpus(suite: Suite, machine: Machine) -> Suite:
    """The suite without the cells that need a GPU where there is none."""
    cells = tuple(cell for cell in suite.cells if cell.device == "cpu" or machine.gpus)
    if not cells:
        why = machine.gpu_problem or "a machine with none"
        raise NetdynoError(f"{suite.name}: expected a GPU, received {why}.", hint="See: netdyno doctor")
    return replace(suite, cells=cells)


def _interpreters(suite: Suite, given: Given) -> tuple[dict[str, Interpreter], dict[str, str]]:
    """Where each framework of the suite runs, and why some do not; if none does, that is an error."""
    found: dict[str, Interpreter] = {}
    missing: dict[str, NetdynoError] = {}
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
