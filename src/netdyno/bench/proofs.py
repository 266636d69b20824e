"""Which networks are proved in which frameworks, and what a proof needs: cases, candidates, a prover."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from netdyno.bench.cells import Bench, split_name
from netdyno.devices.machine import Machine, machine_id
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec
from netdyno.graph.wire import identity
from netdyno.results.proof import Proof
from netdyno.runtime.worker import Setup
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import ProofCase, References
from netdyno.zoo.catalog import entries, find_network, resolve
from netdyno.zoo.entry import CNN, Entry, reduced

BATCH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a proof is: items in its batch, of full size or smaller."""

    batch: int = BATCH
    full: bool = False


def make_prover(threads: int) -> Prover:
    """A prover that keeps its files in netdyno's home."""
    scratch = home() / "scratch"
    scratch.mkdir(exist_ok=True)
    return Prover(
        archive=pack_worker(home() / "workers"),
        python=Path(sys.executable),
        scratch=scratch,
        references=References(folder=home() / "references"),
        threads=threads,
    )


def networks_to_prove(names: Sequence[str], dataset: str | None, bench: Bench) -> list[Entry]:
    """The entries of these names, a user's own network among them; without names the zoo's convolutional ones."""
    if not names:
        known = entries() if dataset else entries(CNN)
        found = [entry for entry in known if dataset in (None, entry.dataset)]
        return found or [bench.entry("", dataset)]
    cases: list[Entry] = []
    for name in names:
        network, own = split_name(name, dataset)
        cases += [bench.entry(network, own)] if own or ".py:" in name or name in bench.own else find_network(name)
    return cases


def candidate(spec: Spec, given: Given, setup: Setup) -> Candidate:
    """A framework to prove; an execution, precision or device that it does not have is refused."""
    execution = setup.execution or spec.executions[0]
    for field, value, possible in (
        ("execution", execution, spec.executions_on(setup.device)),
        ("precision", setup.precision, spec.precisions),
        ("device", setup.device, spec.devices),
    ):
        if value not in possible:
            raise NetdynoError(f"{spec.name} has no {field} '{value}': expected one of {', '.join(possible)}.")
    own = replace(setup, execution=execution)
    return Candidate(spec=spec, interpreter=find_interpreter(spec, given), setup=own)


def proof_case(entry: Entry, prover: Prover, size: Size) -> ProofCase:
    """A network as a case, with its reference computed. Its identity is that of the network at full size."""
    form = entry if size.full else reduced(entry)
    whole = identity(resolve(entry, size.batch))
    names = (entry.network, entry.dataset)
    return prover.case(names, resolve(form, size.batch), identity=whole, size=extent(form))


def extent(entry: Entry) -> str:
    """The size of an entry's items in words."""
    shape = entry.items.shape
    if not shape:
        return ", ".join(f"{name}={value}" for name, value in entry.options.items())
    return f"{shape[1]}×{shape[2]}" if len(shape) == 3 else f"vectors of {shape[0]}"


def dated(proof: Proof, machine: Machine) -> Proof:
    """The proof with where and when it was made."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return structs.replace(proof, machine=machine_id(machine), proved_at=now)
