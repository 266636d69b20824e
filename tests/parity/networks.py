"""What the proofs of whole networks share: the nine cases at a reduced size, each framework in one process."""

from netdyno.frameworks.spec import Spec
from netdyno.results.proof import Proof
from netdyno.workloads.prove import Prover
from netdyno.zoo.catalog import Entry, entries, resolve
from netdyno.zoo.entry import reduced
from tests.parity.conftest import candidate_for, proved_specs

BATCH = 4
NINE = entries()[:9]  # of the thesis; the two later forms add no op, and `netdyno verify --all` has them

_proved: dict[str, dict[str, Proof]] = {}


def specs_of(*eras: str) -> list[Spec]:
    """The frameworks of some eras: a file of tests each, so that two files can be run at a time."""
    return [spec for spec in proved_specs() if spec.era in eras]


def proof_of(prover: Prover, spec: Spec, entry: Entry) -> Proof:
    """Of one network; all are proved when the first is asked for."""
    if spec.name not in _proved:
        candidate = candidate_for(spec, spec.executions[0])
        cases = [prover.case((e.network, e.dataset), resolve(reduced(e), BATCH)) for e in NINE]
        _proved[spec.name] = {proof.case(): proof for proof in prover.prove(cases, candidate)}
    return _proved[spec.name][f"{entry.network}/{entry.dataset}"]


def name_of(value: Spec | Entry) -> str:
    return value.name if isinstance(value, Spec) else f"{value.network}-{value.dataset}"
