"""`netdyno verify`: the proof that a framework trains the same network as the float64 reference."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import typer

from netdyno.bench.proofs import (
    Size,
    candidates,
    dated,
    extent,
    groups_that_fit,
    make_prover,
    networks_to_prove,
    proof_case,
    proof_form,
)
from netdyno.bench.session import usual_bench
from netdyno.bench.suites import default_framework
from netdyno.cli.command import one_command
from netdyno.cli.options import (
    HOW,
    MEASURING,
    WHAT,
    CpuOption,
    FrameworksOption,
    GpusOption,
    JsonOption,
    PythonOption,
    device_of,
    store_location,
    threads_of,
)
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, locate, read_given
from netdyno.frameworks.spec import Spec, find_spec, specs
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.progress import duration
from netdyno.report.terminal.proofs import proof_matrix, proof_remarks, proofs_table, tensors_table
from netdyno.results.proof import Proof
from netdyno.results.store import open_store
from netdyno.runtime.worker import Setup
from netdyno.workloads.judgement import proof_json
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import ProofCase
from netdyno.zoo.entry import Entry

NETWORK = "Network, or path/to/file.py:function. Repeatable. Default: the zoo."
NetworksOption = Annotated[list[str] | None, typer.Option(help=NETWORK, rich_help_panel=WHAT)]
OnlyDatasetOption = Annotated[str | None, typer.Option(help="Only on this dataset.", rich_help_panel=WHAT)]
ALL = "Every framework, with the reason where one cannot."
AllOption = Annotated[bool, typer.Option("--all", help=ALL, rich_help_panel=HOW)]
PRECISION = "float32, tf32, bfloat16, float16, or float64, which is proved with every other where a framework has it."
ProofPrecisionOption = Annotated[str, typer.Option(help=PRECISION, rich_help_panel=HOW)]
EXECUTION = "eager or compiled. Default: the framework's first."
ExecutionOption = Annotated[str | None, typer.Option(help=EXECUTION, rich_help_panel=HOW)]
BATCH_HELP = "Items in the batch of the proof. Default: 8, 4 or 2, fewer for a large network."
BatchOption = Annotated[int | None, typer.Option(help=BATCH_HELP, min=1, max=4096, rich_help_panel=MEASURING)]
FULL_SIZE = (
    "Items as they are measured, or smaller ones: quicker, but no proof of what is measured. Default: full size."
)
FullSizeOption = Annotated[
    bool | None, typer.Option("--full-size/--small", help=FULL_SIZE, show_default=False, rich_help_panel=MEASURING)
]
EXPLAIN = "NETWORK FRAMEWORK: prove this one, and show the ten tensors that are nearest their limits."
ExplainOption = Annotated[tuple[str, str] | None, typer.Option(help=EXPLAIN, rich_help_panel=WHAT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How proofs are shown."""

    json: bool
    matrix: bool
    tensors: bool


def verify(
    context: typer.Context,
    network: NetworksOption = None,
    dataset: OnlyDatasetOption = None,
    framework: FrameworksOption = None,
    every: AllOption = False,
    precision: ProofPrecisionOption = "float32",
    execution: ExecutionOption = None,
    batch: BatchOption = None,
    full_size: FullSizeOption = None,
    explain: ExplainOption = None,
    cpu: CpuOption = False,
    gpus: GpusOption = None,
    python: PythonOption = None,
    json: JsonOption = False,
) -> None:
    """Prove that frameworks train the same network. Exit 1 if one differs.

    Outputs, every gradient and the parameters after two updates are compared with a float64 implementation: in
    float64 to 1e-9 where the framework computes in it, and in the precision asked for to what rounding explains.
    """
    network, framework = _asked(explain, network, framework, every)
    machine = describe_machine()
    device = device_of(gpus, cpu, len(machine.gpus))
    setup = Setup(device=device, precision=precision, execution=execution or "", threads=threads_of(machine))
    proved, missing = _candidates(framework, read_given(python or ()), setup, every)
    bench = usual_bench(machine)
    prover = make_prover(bench.threads)
    networks = networks_to_prove(network or (), dataset, bench)
    size = Size(batch=batch, full=full_size)
    with open_store(store_location(context)) as store:
        proofs: list[Proof] = []
        groups = groups_that_fit(networks, size)
        for place, group in enumerate(groups, 1):
            _tell_group(place, groups)
            cases = _references(group, prover, size)
            proofs += _prove_all(cases, proved, prover, lambda proof: store.add_proof(dated(proof, machine)))
    several = len({one.spec.name for one in proved}) > 2
    _show(proofs, missing, Form(json=json, matrix=every or several, tensors=bool(explain)))


def _asked(
    explain: tuple[str, str] | None, networks: list[str] | None, frameworks: list[str] | None, every: bool
) -> tuple[list[str] | None, list[str] | None]:
    """The networks and frameworks, of which --explain names one each."""
    if every and frameworks:
        raise NetdynoError("expected --all or --framework, received both.")
    if not explain:
        return networks, frameworks
    if every or networks or frameworks:
        raise NetdynoError("expected --explain NETWORK FRAMEWORK alone, received other networks or frameworks too.")
    return [explain[0]], [explain[1]]


def _candidates(
    names: list[str] | None, given: Given, setup: Setup, every: bool
) -> tuple[list[Candidate], dict[str, str]]:
    """Who is proved; with --all, why others are not."""
    chosen, missing = _everything(given) if every else (_chosen(names, given), {})
    found = []
    for spec in chosen:
        try:
            found += candidates(spec, given, setup)
        except NetdynoError as error:
            if not every:
                raise
            missing[spec.name] = str(error)
    return found, missing


def _tell_group(place: int, groups: list[list[Entry]]) -> None:
    """Where the references of all networks would take too much of the disk at once."""
    if len(groups) > 1:
        talk_console().print(f"group {place} of {len(groups)}: {len(groups[place - 1])} networks")


def _references(networks: list[Entry], prover: Prover, size: Size) -> list[ProofCase]:
    """Each network as a case with its reference computed, saying how long the rest will take."""
    talk, start = talk_console(), time.monotonic()
    cases = []
    for place, entry in enumerate(networks, 1):
        form, batch = proof_form(entry, size)
        title = f"{entry.network}/{entry.dataset} at batch {batch}, {extent(form)}"
        with talk.status(f"reference {place} of {len(networks)}: {title}", refresh_per_second=2):
            cases.append(proof_case(entry, prover, size))
        left_s = (time.monotonic() - start) / place * (len(networks) - place)
        talk.print(f"[{place}/{len(networks)}] reference: {title}, {duration(left_s)} left")
    return cases


def _prove_all(
    cases: list[ProofCase], candidates: list[Candidate], prover: Prover, keep: Callable[[Proof], None]
) -> list[Proof]:
    """Framework by framework, every network, saying how long the rest will take; proofs are kept when one ends."""
    talk, start = talk_console(), time.monotonic()
    proofs: list[Proof] = []
    for place, one in enumerate(candidates, 1):
        name = f"{one.spec.name} in {one.setup.precision}"
        with talk.status(f"{name} ({place} of {len(candidates)})", refresh_per_second=2):
            found = prover.prove(cases, one, keep)
        left_s = (time.monotonic() - start) / place * (len(candidates) - place)
        talk.print(f"[{place}/{len(candidates)}] {name}: {_word(found)}, {duration(left_s)} left")
        proofs += found
    return proofs


def _everything(given: Given) -> tuple[list[Spec], dict[str, str]]:
    """Every framework that computes something: those that are here, and why the others are not."""
    real = [spec for spec in specs().values() if not spec.is_instrument]
    here = [spec for spec in real if locate(spec, given)]
    return here, {spec.name: spec.unavailable or "not installed" for spec in real if spec not in here}


def _chosen(names: list[str] | None, given: Given) -> list[Spec]:
    """The frameworks asked for, or every one that is usable here and computes something."""
    chosen = [find_spec(name) for name in names] if names else _everything(given)[0]
    if not chosen:
        raise NetdynoError(
            "expected at least one usable framework, received none.",
            hint=f"Try: netdyno frameworks install {default_framework()}",
        )
    return chosen


def _word(proofs: list[Proof]) -> str:
    """`9 equal`, or which are not."""
    wrong = [f"{proof.case()} NOT EQUAL" for proof in proofs if not proof.passed and not proof.reason]
    without = [f"{proof.case()} {proof.reason[:60]}" for proof in proofs if proof.reason]
    return ", ".join([f"{sum(proof.passed for proof in proofs)} equal", *wrong, *without])


def _show(proofs: list[Proof], missing: Mapping[str, str], form: Form) -> None:
    """Exit 1 if something is not equal; what a framework says it cannot do is an answer, not a failure."""
    if form.json:
        print_json([proof_json(proof) for proof in proofs])
    elif form.matrix:
        for part in proof_matrix(proofs, missing):
            data_console().print(part)
    else:
        data_console().print(proofs_table(proofs))
    if not form.json:
        for remark in proof_remarks(proofs):
            data_console().print(remark)
        for proof in proofs if form.tensors else ():
            data_console().print(tensors_table(proof))
    if not all(proof.passed or proof.reason.startswith("unsupported") for proof in proofs):
        raise typer.Exit(1)


app = one_command(
    verify,
    """
    netdyno verify --network lenet
    netdyno verify --all --json
    netdyno verify --explain lenet FRAMEWORK
    """,
)
