"""Which networks are proved in which frameworks, and what a proof needs: cases, candidates, a prover."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from netdyno.bench.cells import Bench
from netdyno.bench.fields import split_name
from netdyno.devices.machine import Machine, machine_id
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Given, find_interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec
from netdyno.results.proof import EXACTLY, Proof
from netdyno.runtime.worker import Setup
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import MOST_BYTES, ProofCase, References
from netdyno.zoo.catalog import entries, find_network, resolve
from netdyno.zoo.entry import INSTRUMENT, Entry, reduced

BATCHES = (8, 4, 2)  # of a proof: the largest whose forward pass is cheap
# Arrays of a network's reference: its gradients, and its parameters after the updates, in float64.
REFERENCE_BYTES_PER_PARAMETER = 16
ARRAYS_SHARE = 0.8  # of what is kept of references; outputs take the rest
CHEAP_MACS = 10e9  # of a batch, forward: the oracle takes about ten seconds for all that a proof needs
MOST_MACS = 50e9  # over this, smaller items are proved where a network has them


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a proof is, where it is not left to netdyno: items in its batch, of full size or smaller."""

    batch: int | None = None
    full: bool | None = None


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
    """The entries of these names, a user's own network among them; without names the zoo but for instruments."""
    if not names:
        known = [entry for entry in entries() if dataset or entry.family != INSTRUMENT]
        found = [entry for entry in known if dataset in (None, entry.dataset)]
        return found or [bench.entry("", dataset)]
    cases: list[Entry] = []
    for name in names:
        network, own = split_name(name, dataset)
        cases += [bench.entry(network, own)] if own or ".py:" in name or name in bench.own else find_network(name)
    return cases


def candidates(spec: Spec, given: Given, setup: Setup) -> list[Candidate]:
    """A framework as it is proved: in float64 where it has that, for its meaning, and in the precision asked for."""
    measured = candidate(spec, given, setup)
    if setup.precision == EXACTLY or EXACTLY not in spec.precisions:
        return [measured]
    return [replace(measured, setup=replace(measured.setup, precision=EXACTLY)), measured]


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


def proof_form(entry: Entry, size: Size) -> tuple[Entry, int]:
    """The network as it is measured where the oracle can compute that, else on smaller items; and the batch."""
    full = size.full if size.full is not None else entry.macs * (size.batch or BATCHES[-1]) <= MOST_MACS
    form = entry if full else reduced(entry)
    cheap = (batch for batch in BATCHES if not full or entry.macs * batch <= CHEAP_MACS)
    return form, size.batch or next(cheap, BATCHES[-1])


def groups_that_fit(networks: Sequence[Entry], size: Size) -> list[list[Entry]]:
    """The networks in their order, in groups whose references are kept together; one that is too large is alone."""
    groups: list[list[Entry]] = []
    most_bytes = room = MOST_BYTES * ARRAYS_SHARE
    for entry in networks:
        form, _ = proof_form(entry, size)
        needed = REFERENCE_BYTES_PER_PARAMETER * entry.parameters if form == entry else 0
        if not groups or needed > room:
            groups.append([])
            room = most_bytes
        groups[-1].append(entry)
        room -= needed
    return groups


def proof_case(entry: Entry, prover: Prover, size: Size) -> ProofCase:
    """A network as a case, with its reference computed."""
    form, batch = proof_form(entry, size)
    return prover.case((entry.network, entry.dataset), resolve(form, batch), size=extent(form))


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
