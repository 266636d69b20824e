"""What is said of a mutation: whether it can be seen, whether a proof sees it, whether the old rule would have."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netdyno.graph.model import Programme
from netdyno.protocol import events
from netdyno.results.proof import Tensor
from netdyno.workloads.judgement import Evidence, finite
from netdyno.workloads.references import SIZES, ProofCase, kept_tensors

NOTHING = 1e-12  # of a tensor's size: the oracle's own rounding
# The constants of the rule that replays replaced: relative errors in float32, the largest of any tensor.
OLD_LIMITS = {"outputs": 1e-4, "losses": 1e-3, "gradients": 3e-2, "parameters": 5e-3, "moved": 0.5}
OLD_FLOOR = 1e-3  # a tensor this much smaller than the largest of its kind was judged against the largest
OLD_RATE = 1e-4  # updates were made with this learning rate at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One mutation in one precision. `change`: the largest share of a tensor's limit that it moves in the oracle."""

    changes: bool
    change: float
    caught: bool
    share: float  # of its limit, of the framework's worst tensor

    @property
    def visible(self) -> bool:
        return self.change > 1.0


def sight(case: ProofCase, precision: str, oracle: events.Proof, found: events.Proof) -> Sight:
    """What the oracle and a framework say of the same mutated programme, each against the right one."""
    exact, seen = tensors(case, precision, oracle), tensors(case, precision, found)
    return Sight(
        changes=any(tensor.error() > NOTHING and tensor.share() > 0 for tensor in exact),
        change=max(tensor.share() for tensor in exact),
        caught=any(not tensor.holds() for tensor in seen),
        share=max(tensor.share() for tensor in seen),
    )


def tensors(case: ProofCase, precision: str, found: events.Proof) -> list[Tensor]:
    """Every tensor with its limit, as a proof judges it."""
    evidence = Evidence(
        precision=precision,
        sizes=kept_tensors(case.kept(SIZES)),
        noise=kept_tensors(case.kept(precision)),
        distances=finite(found.tensors),
    )
    return list(evidence.tensors(case.programme))


def old_rule_catches(case: ProofCase, found: events.Proof) -> bool:
    """By the constants of before, from the tensors of one batch. An approximation in that rule's favour: it took the
    smallest error of a gradient over three batches, and its losses were of smaller updates. How far parameters moved
    is scaled to its learning rate."""
    sizes, distances = kept_tensors(case.kept(SIZES)), finite(found.tensors)
    slower = _slower(case.programme)
    moved = {name: size * slower.get(name, 1.0) for name, size in sizes["parameters"].items()}
    missed = {name: far * slower.get(name, 1.0) for name, far in distances["parameters"].items()}
    pairs: list[tuple[str, Mapping[str, float], Mapping[str, float]]] = [
        ("outputs", sizes["outputs"], distances["outputs"]),
        ("losses", sizes["losses"], distances["losses"]),
        ("gradients", sizes["gradients"], distances["gradients"]),
        ("parameters", _parameter_sizes(case.arrays), missed),
        ("moved", moved, missed),
    ]
    return any(_old_error(kind, own, far) > OLD_LIMITS[kind] for kind, own, far in pairs)


def _old_error(kind: str, sizes: Mapping[str, float], distances: Mapping[str, float]) -> float:
    floor = OLD_FLOOR * max(sizes.values(), default=0.0)
    return max((distances[name] / (max(size, floor) or 1.0) for name, size in sizes.items()), default=0.0)


def _slower(programme: Programme) -> dict[str, float]:
    return {
        name: min(1.0, OLD_RATE / update.optimizer.learning_rate)
        for update in programme.updates()
        for name in update.parameters
    }


def _parameter_sizes(arrays: Path) -> dict[str, float]:
    with np.load(arrays, allow_pickle=False) as stored:
        names = [name for name in stored.files if name.startswith("parameters|")]
        return {name.split("|", 1)[1]: float(np.sqrt(np.mean(np.square(stored[name])))) for name in names}
