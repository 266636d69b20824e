"""One proof as it is kept: a framework on a network, its largest errors, or the reason there are none."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Annotated

from msgspec import Meta, Struct, field

from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.values import AnyNumber, Count, Finite, Name, Words

EXACTLY = "float64"  # the precision in which a network's meaning is proved
CASE_FIELDS = ("framework", "device", "precision", "network", "dataset")
ONE_OF = {"outputs": "output", "gradients": "gradient of", "losses": "loss", "parameters": "moved parameter"}
POOR = 0.1  # a resolution over this leaves much unseen


class Tensor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tensor of a proof, in root mean squares: how large it is, how far off, how far it may be."""

    kind: Name
    name: Name
    node: Name
    size: Finite
    off_by: Finite | None  # None: not a number, or no tensor of that shape
    limit: Finite

    def holds(self) -> bool:
        return self.off_by is not None and self.off_by <= self.limit

    def share(self) -> float:
        """Of its limit; over 1 where it is wrong."""
        if self.off_by is None or (self.off_by and not self.limit):
            return inf
        return self.off_by / self.limit if self.off_by else 0.0

    def what(self) -> str:
        """Such as "the gradient of conv1.weight"."""
        return f"the {ONE_OF[self.kind]} {self.name.split('/', 1)[-1]}"

    def error(self) -> float:
        """Relative to its size."""
        return inf if self.off_by is None or not self.size else self.off_by / self.size


class Proof(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a framework trained the same network as the oracle; errors are relative, the largest of a kind."""

    framework: Name
    network: Name
    dataset: Name
    device: Name
    precision: Name
    execution: Name
    passed: bool = False
    outputs: AnyNumber | None = None
    gradients: AnyNumber | None = None
    parameters: AnyNumber | None = None
    worst_node: Words = ""
    reason: Words = ""
    versions: Annotated[Mapping[Name, Name], Meta(max_length=1000)] = field(default_factory=dict)
    python: Name = ""
    machine: Name = ""
    proved_at: Name = ""
    graph_digest: Name = ""  # of the graph that was computed
    graph_identity: Name = ""  # of the same, whatever the batch; empty in proofs of before it was kept
    batch: Count | None = None
    size: Name | None = None  # of the items
    # By kind of tensor: a relative error over this is seen, wherever it is. None in proofs by an earlier rule.
    resolution: Annotated[Mapping[Name, Finite], Meta(max_length=100)] | None = None
    worst: Annotated[tuple[Tensor, ...], Meta(max_length=100)] = ()  # nearest their limits or over them

    def case(self) -> str:
        """The network as a user names it."""
        return f"{self.network}/{self.dataset}"

    def is_poor(self) -> bool:
        """Whether rounding hides much of the network."""
        return self.passed and max((self.resolution or {}).values(), default=0.0) > POOR

    def difference(self) -> str:
        """What differs, by how much, against which limit, and where it begins."""
        if not self.worst:
            return f"first at {self.worst_node}"
        worst = self.worst[0]
        far = (
            "is no number or has another shape"
            if worst.off_by is None
            else f"is off by {worst.error():.1e} of its size"
        )
        allowed = f"limit {worst.limit / worst.size:.1e}" if worst.size else "its true value is zero"
        return f"{worst.what()} {far}, {allowed}; it begins at {self.worst_node or worst.node}"


class Proved:
    """What proofs say of measured cells: a proof is of a graph, up to the batch, on a machine's device, in a
    precision and an execution. One that fails in float64 takes all of them back."""

    def __init__(self, proofs: Iterable[Proof]) -> None:
        kept = [proof for proof in proofs if proof.graph_identity and proof.resolution is not None]
        self._equal = {(*_ways(proof), proof.precision) for proof in kept if proof.passed}
        self._wrong = {_ways(p) for p in kept if p.precision == EXACTLY and not p.passed and not p.reason}

    def covers(self, record: Record) -> bool:
        """Whether what the record ran was proved."""
        cell = record.cell
        execution = str(record.settings.get("execution", cell.execution))  # of a cell that wanted the fastest
        ways = (record.machine, cell.framework, record.graph_identity, cell.device, execution)
        return (*ways, cell.precision) in self._equal and ways not in self._wrong

    def covers_result(self, result: Result) -> bool:
        return bool(result.measured) and self.covers(result.measured[-1])

    def missing(self, results: Iterable[Result]) -> list[str]:
        """The frameworks of measured cells without a proof."""
        measured = (result.measured[-1] for result in results if result.measured)
        return sorted({record.cell.framework for record in measured if not self.covers(record)})


def _ways(proof: Proof) -> tuple[str, ...]:
    return proof.machine, proof.framework, proof.graph_identity, proof.device, proof.execution
