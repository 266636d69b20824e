"""Whether a framework trains the same network: every tensor against what rounding explains of it.

The oracle's replays, rounded at random, show how far rounding takes each tensor: its noise. A candidate may be off
by a small multiple of that; how much of a tensor the multiple hides is the resolution of its proof.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from msgspec import structs, to_builtins

from netdyno.graph.model import Programme
from netdyno.results.proof import EXACTLY, Proof, Tensor

KINDS = ("outputs", "gradients", "losses", "parameters")
AT_KINKS = "_at_kinks"  # behind a kind of noise
SHOWN = ("outputs", "gradients", "parameters")
# Of the noise of rounding: kernels are less exact than they could be, in units of float32 or of float64.
MULTIPLES = {"float64": 30.0, "float32": 30.0, "tf32": 5.0, "bfloat16": 5.0, "float16": 5.0}
KINKS = 3.0  # of what replays differ by that take every other doubtful value to the wrong side of its kink
EXACT = 1e-9  # of a tensor's own size, in float64
WORST = 10  # tensors that are kept with a proof
# The largest relative error of rounding to nearest: a tensor may always be off by some of its own.
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "tf32": 2.0**-11, "bfloat16": 2.0**-8, "float16": 2.0**-11}

Tensors = Mapping[str, Mapping[str, float]]  # by kind and name


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """By kind and tensor, as root mean squares: how large the reference's is, how far replays and the candidate are
    from it."""

    precision: str
    sizes: Tensors
    noise: Tensors
    distances: Tensors

    def tensors(self, programme: Programme) -> Iterator[Tensor]:
        """Each with its node, how far it is off and how far it may be."""
        owners = {name: node.name for node in programme.graph.nodes for name in node.inputs}
        for kind in KINDS:
            for name, size in self.sizes[kind].items():
                parameter = name.split("/", 1)[-1]
                yield Tensor(
                    kind=kind,
                    name=name,
                    node=owners.get(parameter, "") if kind in ("gradients", "parameters") else name,
                    size=size,
                    off_by=_finite_or_none(self.distances[kind].get(name, inf)),
                    limit=self._limit(size, *(self.noise[k].get(name, 0.0) for k in (kind, kind + AT_KINKS))),
                )

    def _limit(self, size: float, noise: float, kinks: float) -> float:
        rounding = MULTIPLES[self.precision] * max(noise, UNITS[self.precision] * size)
        return max(rounding + KINKS * kinks, EXACT * size if self.precision == EXACTLY else 0.0)


def judged(blank: Proof, programme: Programme, evidence: Evidence) -> Proof:
    """The proof with its largest errors, its resolution, its worst tensors, and whether all of it holds."""
    tensors = list(evidence.tensors(programme))
    wrong = [tensor for tensor in tensors if not tensor.holds()]
    worst = {kind: _largest(tensors, kind, Tensor.error) for kind in SHOWN}
    resolution = {kind: _largest(tensors, kind, lambda tensor: tensor.limit / tensor.size) for kind in SHOWN}
    return structs.replace(
        blank,
        passed=not wrong,
        outputs=worst["outputs"],
        gradients=worst["gradients"],
        parameters=worst["parameters"],
        resolution={kind: value for kind, value in resolution.items() if value is not None},
        worst_node=first_wrong_node(programme, wrong or tensors),
        worst=tuple(sorted(tensors, key=Tensor.share, reverse=True)[:WORST]),
    )


def _largest(tensors: list[Tensor], kind: str, of: Callable[[Tensor], float]) -> float | None:
    """Over the tensors that rounding does not hide: others are zero as far as anyone can tell."""
    return max((of(tensor) for tensor in tensors if tensor.kind == kind and tensor.size > tensor.limit), default=None)


def _finite_or_none(distance: float) -> float | None:
    return distance if distance < inf else None


def first_wrong_node(programme: Programme, wrong: list[Tensor]) -> str:
    """Where an error begins: of gradients nearest the loss, since it spreads from there towards the input; else the
    node of the worst tensor."""
    place = {node.name: number for number, node in enumerate(programme.graph.nodes)}
    gradients = [tensor.node for tensor in wrong if tensor.kind == "gradients" and not tensor.holds()]
    if gradients:
        return max(gradients, key=lambda name: place.get(name, -1))
    return max(wrong, key=Tensor.share).node if wrong else ""


def finite(reported: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """What a `proof` event says of its tensors; null stands for what is not a finite number."""
    return {
        kind: {name: inf if value is None else float(value) for name, value in reported.get(kind, {}).items()}
        for kind in (*KINDS, *(kind + AT_KINKS for kind in KINDS))
    }


def proof_json(proof: Proof) -> dict[str, object]:
    """What `netdyno verify --json` prints; the reason appears only where there is one."""
    names = ["framework", "network", "dataset", "device", "precision", "execution"]
    names += ["passed", "outputs", "gradients", "parameters", "worst_node", "versions", "size", "batch", "resolution"]
    data = {name: getattr(proof, name) for name in names}
    data = {name: None if value == inf else value for name, value in data.items()}
    data["worst"] = to_builtins(proof.worst)
    return {**data, "reason": proof.reason} if proof.reason else data
