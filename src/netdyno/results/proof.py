"""One proof as it is kept: a framework on a network, its largest errors, or the reason there are none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from netdyno.results.cell import Cell
from netdyno.results.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Whether a framework trained the same network as the reference; errors are relative, the largest of a kind."""

    framework: str
    network: str
    dataset: str
    device: str
    precision: str
    execution: str
    passed: bool = False
    outputs: float | None = None
    gradients: float | None = None
    parameters: float | None = None
    worst_node: str = ""
    reason: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    python: str = ""
    machine: str = ""
    proved_at: str = ""

    def case(self) -> str:
        """The network as a user names it."""
        return f"{self.network}/{self.dataset}"


def is_proved(cell: Cell, proofs: Iterable[Proof]) -> bool:
    """Whether the cell's framework passed on its network, device and precision, in whatever execution."""
    names = ("framework", "network", "dataset", "device", "precision")
    return any(proof.passed and all(getattr(proof, n) == getattr(cell, n) for n in names) for proof in proofs)


def unproved_frameworks(results: Iterable[Result], proofs: Iterable[Proof]) -> list[str]:
    """The frameworks of measured cells without a proof."""
    kept = list(proofs)
    measured = (result.cell for result in results if result.images_per_s is not None)
    return sorted({cell.framework for cell in measured if not is_proved(cell, kept)})
