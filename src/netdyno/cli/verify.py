"""`netdyno verify`: the proof that a framework trains the same network as the float64 reference."""

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from netdyno.cli.options import JsonOption, PythonOption, device_of, threads_of
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import find_interpreter, locate, read_given
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec, find_spec, specs
from netdyno.harness.complete import Bench
from netdyno.harness.request import ProofManner
from netdyno.harness.suites import default_framework
from netdyno.harness.verify import Candidate, Proof, Prover
from netdyno.harness.worker_file import pack_worker
from netdyno.report.console import data_console, print_json, talk_console
from netdyno.report.progress import duration
from netdyno.report.tables import proofs_table
from netdyno.zoo.catalog import Entry, entries, find_network, resolve

BATCH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a proof is: images in its batch, whole or reduced."""

    batch: int
    full: bool


def verify(
    framework: Annotated[
        list[str] | None, typer.Option(help="May be repeated; if not said, every usable one.")
    ] = None,
    network: Annotated[list[str] | None, typer.Option(help="May be repeated; the whole zoo if not said.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Only on this dataset.")] = None,
    precision: Annotated[str, typer.Option(help="float32, tf32, bfloat16 or float16.")] = "float32",
    execution: Annotated[str | None, typer.Option(help="eager or compiled; if not said, the first it has.")] = None,
    batch: Annotated[int, typer.Option(help="Images in the proof's batch.")] = BATCH,
    full_size: Annotated[bool, typer.Option("--full-size", help="Whole images, not the smaller ones.")] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="On the CPU.")] = False,
    gpus: Annotated[int | None, typer.Option(help="On so many GPUs.")] = None,
    python: PythonOption = None,
    json: JsonOption = False,
) -> None:
    """Compare outputs, every gradient and the parameters after three updates; exit 1 if one is not equal."""
    machine = describe_machine()
    device = device_of(gpus, cpu, len(machine.gpus))
    manner = ProofManner(
        role="candidate", device=device, precision=precision, execution=execution or "", threads=threads_of(machine)
    )
    candidates = _candidates(framework, read_given(python or ()), manner)
    cases = _cases(network, dataset, threads_of(machine))
    scratch = home() / "scratch"
    scratch.mkdir(exist_ok=True)
    prover = Prover(
        worker=pack_worker(home() / "workers"),
        python=Path(sys.executable),
        scratch=scratch,
        threads=threads_of(machine),
    )
    _show(_prove_all(cases, candidates, prover, Size(batch=batch, full=full_size)), json)


def _prove_all(cases: list[Entry], candidates: list[Candidate], prover: Prover, size: Size) -> list[Proof]:
    """Network by network, each in every framework, saying how long the rest will take."""
    talk = talk_console()
    start = time.monotonic()
    proofs: list[Proof] = []
    for place, entry in enumerate(cases, 1):
        pixels = entry.image_size if size.full else entry.verify_size
        title = f"{entry.network}/{entry.dataset.name} at batch {size.batch}, {pixels}×{pixels}"
        with talk.status(f"{title} ({place} of {len(cases)})", refresh_per_second=2):
            training = resolve(entry, size.batch, image_size=pixels)
            found = prover.prove(training, (entry.network, entry.dataset.name), candidates)
        left = (time.monotonic() - start) / place * (len(cases) - place)
        talk.print(f"[{place}/{len(cases)}] {title}: {_word(found)}, {duration(left)} left", markup=False)
        proofs += found
    return proofs


def _candidates(names: list[str] | None, pythons: dict[str, Path], manner: ProofManner) -> list[Candidate]:
    """The frameworks asked for, or every one that is usable here and computes something."""
    chosen = [find_spec(name) for name in names] if names else _usable(pythons)
    if not chosen:
        raise NetdynoError(
            "expected at least one usable framework, received none.",
            hint=f"Try: netdyno frameworks install {default_framework()}",
        )
    return [_candidate(spec, pythons, manner) for spec in chosen]


def _usable(pythons: dict[str, Path]) -> list[Spec]:
    """Those with something to install: the reference and the empty adapter prove nothing about themselves."""
    return [spec for spec in specs().values() if spec.requirements and locate(spec, pythons)]


def _candidate(spec: Spec, pythons: dict[str, Path], manner: ProofManner) -> Candidate:
    execution = manner.execution or spec.executions[0]
    for field, value, possible in (
        ("execution", execution, spec.executions),
        ("precision", manner.precision, spec.precisions),
        ("device", manner.device, spec.devices),
    ):
        if value not in possible:
            raise NetdynoError(f"{spec.name} has no {field} '{value}': expected one of {', '.join(possible)}.")
    return Candidate(
        spec=spec, python=find_interpreter(spec, pythons).path, manner=replace(manner, execution=execution)
    )


def _cases(names: list[str] | None, dataset: str | None, threads: int) -> list[Entry]:
    """The zoo's entries asked for; a user's own network is taken from its file."""
    bench = Bench(threads=threads, folder=Path.cwd(), framework=default_framework())
    if not names:
        found = [entry for entry in entries() if dataset in (None, entry.dataset.name)]
        return found or [bench.entry("", dataset)]
    cases: list[Entry] = []
    for name in names:
        if "/" in name or dataset or ".py:" in name:
            cases.append(bench.entry(*_split(name, dataset)))
        else:
            cases += find_network(name)
    return cases


def _split(name: str, dataset: str | None) -> tuple[str, str | None]:
    if ".py:" in name or "/" not in name:
        return name, dataset
    network, _, own = name.partition("/")
    return network, own


def _word(proofs: list[Proof]) -> str:
    return ", ".join(f"{proof.framework} {'equal' if proof.passed else 'NOT EQUAL'}" for proof in proofs)


def _show(proofs: list[Proof], json: bool) -> None:
    if json:
        print_json([proof.to_json() for proof in proofs])
    else:
        data_console().print(proofs_table(proofs))
    if not all(proof.passed for proof in proofs):
        raise typer.Exit(1)
