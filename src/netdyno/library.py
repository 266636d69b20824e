"""How netdyno is used from Python: what the functions of the public API do."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from netdyno.bench.cells import NAMED, Bench
from netdyno.bench.networks import Network, resolve_network
from netdyno.bench.proofs import Size, candidate, dated, make_prover, networks_to_prove, proof_case
from netdyno.bench.session import Place, open_session, usual_bench, without_missing_gpus
from netdyno.bench.settings import Settings
from netdyno.bench.suite import Suite, read_suite
from netdyno.bench.suites import DEFAULT, find_suite
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.home import store_location
from netdyno.frameworks.spec import find_spec
from netdyno.results.compare.pairs import Compared, compare_all
from netdyno.results.compare.question import question_of
from netdyno.results.compare.sides import find_sides
from netdyno.results.exchange.selection import Selection
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.store import open_store
from netdyno.runtime.observer import Observer, Step
from netdyno.runtime.worker import Setup
from netdyno.workloads import find_workload
from netdyno.zoo.entry import Recipe

SETTINGS = tuple(field.name for field in fields(Settings))
PROOF_FIELDS = ("dataset", "precision", "execution", "device", "batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How a measurement is carried out."""

    store: str | None = None
    again: bool = False
    observer: Observer[Record] | None = None


class Silent:
    """An observer that reports nothing."""

    def started(self, step: Step) -> None: ...

    def polled(self) -> None: ...

    def ended(self, result: object) -> None: ...


def find_network(
    network: str | Recipe, dataset: str | None, batch: int | None, options: Mapping[str, Any]
) -> Network:
    """The network, resolved."""
    bench = usual_bench(describe_machine())
    name = _name(network, bench)
    return resolve_network(bench, name, dataset=dataset, batch=batch, options=dict(options))


def run(suite: str | None, network: str | Recipe | None, given: Mapping[str, Any], running: Running) -> list[Result]:
    """Measure a suite or one cell, and return the results of its cells."""
    machine = describe_machine()
    bench = usual_bench(machine)
    chosen = without_missing_gpus(_suite(suite, network, given, bench), machine)
    place = Place(bench=bench, machine=machine, store=store_location(running.store), given={})
    observer = running.observer or Silent()
    with open_session(chosen, place, lambda split, done, of: None) as session:
        plan = session.plan(again=running.again)
        session.compiled_ahead(plan, Silent()).carry_out(plan, observer)
        return session.results()


def verify(network: str | Recipe, framework: str, store: str | None, given: Mapping[str, Any]) -> Proof:
    """Prove one network in one framework, and store the proof."""
    for name in given:
        if name not in PROOF_FIELDS:
            raise unknown("field of a proof", name, PROOF_FIELDS)
    machine = describe_machine()
    bench = usual_bench(machine)
    setup = Setup(
        device=given.get("device", "cpu"),
        precision=given.get("precision", "float32"),
        execution=given.get("execution", ""),
        threads=bench.threads,
    )
    prover, size = make_prover(bench.threads), Size(**{n: given[n] for n in ("batch",) if n in given})
    (entry, *_) = networks_to_prove([_name(network, bench)], given.get("dataset"), bench)
    (proof,) = prover.prove([proof_case(entry, prover, size)], candidate(find_spec(framework), {}, setup))
    with open_store(store_location(store)) as opened:
        opened.add_proof(dated(proof, machine))
    return proof


def results(selector: str, store: str | None) -> list[Result]:
    """The newest result of every cell that matches."""
    with open_store(store_location(store), create=False) as opened:
        return list(Selection(store=opened, selector=selector).results(whole=True))


def compare(a: str, b: str, figure: str, store: str | None) -> list[Compared]:
    """Every two cells that differ only in what the selectors name."""
    pairs = find_sides(a, b, store_location(store), figure).pairs
    return compare_all(pairs, question_of((side for pair in pairs for side in pair), figure))


def _name(network: str | Recipe, bench: Bench) -> str:
    """A name that the bench knows; a function is remembered by its own."""
    if isinstance(network, str):
        return network
    name: str = getattr(network, "__name__", "network")
    bench.own[name] = network
    return name


def _suite(suite: str | None, network: str | Recipe | None, given: Mapping[str, Any], bench: Bench) -> Suite:
    """The suite named, or one of the single cell that the fields describe; settings in `given` come first."""
    for name in given:
        if name not in (*NAMED, *SETTINGS):
            raise unknown("field of a cell or setting", name, (*NAMED, *SETTINGS))
    settings = {name: given[name] for name in given if name in SETTINGS}
    cell = {name: given[name] for name in given if name in NAMED}
    if network is None:
        if cell:
            raise NetdynoError(f"expected a network beside {', '.join(cell)}, received none.")
        found = read_suite(find_suite(suite or DEFAULT), bench.complete)
        return replace(found, settings=replace(found.settings, **settings))
    if suite is not None:
        raise NetdynoError("expected a suite or a network, received both.")
    find_workload(given.get("workload", "train"))
    one = bench.complete({"network": _name(network, bench), **cell})
    return Suite(name="cell", cells=(one,), settings=Settings(**settings))
