"""One proof as it is kept: a framework on a network, its largest errors, or the reason there are none."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Annotated

from msgspec import Meta, Struct, field

from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.values import AnyNumber, Count, Finite, Name, Words

CELL_FIELDS = ("framework", "device", "precision")
CASE_FIELDS = (*CELL_FIELDS, "network", "dataset")


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
    graph_identity: Name = ""  # of the network, whatever the batch; empty in proofs of before it was kept
    batch: Count | None = None
    size: Name | None = None  # of the inputs, where they were made smaller
    # The smallest relative error that the proof could have seen, by kind of tensor.
    resolution: Annotated[Mapping[Name, Finite], Meta(max_length=100)] | None = None
    worst: Annotated[tuple[Tensor, ...], Meta(max_length=100)] = ()  # nearest their limits or over them

    def case(self) -> str:
        """The network as a user names it."""
        return f"{self.network}/{self.dataset}"


def is_proved(record: Record, proofs: Iterable[Proof]) -> bool:
    """Whether the record's framework passed on its network, device and precision, in whatever execution."""
    return any(proof.passed and proves(proof, record) for proof in proofs)


def proves(proof: Proof, record: Record) -> bool:
    """Whether a proof is about what a record ran: the same graph, by its identity. Proofs and records of before there
    were identities match by the names of network and dataset."""
    by_identity = bool(proof.graph_identity and record.graph_identity)
    if by_identity and proof.graph_identity != record.graph_identity:
        return False
    names = CELL_FIELDS if by_identity else CASE_FIELDS
    return all(getattr(proof, name) == getattr(record.cell, name) for name in names)


def unproved_frameworks(results: Iterable[Result], proofs: Iterable[Proof]) -> list[str]:
    """The frameworks of measured cells without a proof."""
    kept = list(proofs)
    measured = (result.measured[-1] for result in results if result.measured)
    return sorted({record.cell.framework for record in measured if not is_proved(record, kept)})
