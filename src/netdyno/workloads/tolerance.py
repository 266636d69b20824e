"""What a proof says: how far a framework may be from the float64 reference, and how far it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from msgspec import structs

from netdyno.graph.model import Programme, Update
from netdyno.results.proof import Proof

KINDS = ("outputs", "losses", "gradients", "parameters", "moved")
LEARNING_RATE = 1e-4  # at most: rounding errors must not grow from one update to the next

Errors = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The largest relative error (root mean square, over the reference's) that rounding explains."""

    outputs: float
    losses: float
    gradients: float
    parameters: float
    moved: float  # how far parameters are from where they started; wide, because it depends on every kink on the way

    def holds(self, kind: str, error: float) -> bool:
        limit: float = getattr(self, kind)
        return error <= limit


# Outputs: 10 to 20 roundings, of 2⁻¹⁰ in tf32 and float16, of 2⁻⁷ in bfloat16; 1000 of float32's 2⁻²³, where sums
# count for more. Gradients and parameters: wider by what one kink that goes the other way changes behind it.
TOLERANCE: Mapping[str, Tolerance] = {
    "float32": Tolerance(outputs=1e-4, losses=1e-3, gradients=3e-2, parameters=5e-3, moved=0.5),
    "tf32": Tolerance(outputs=2e-2, losses=2e-2, gradients=0.2, parameters=2e-2, moved=0.7),
    "bfloat16": Tolerance(outputs=0.1, losses=5e-2, gradients=0.5, parameters=5e-2, moved=0.8),
    "float16": Tolerance(outputs=2e-2, losses=2e-2, gradients=0.2, parameters=2e-2, moved=0.7),
}


def finite_errors(reported: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """The errors of a `proof` event; null stands for one that is not a finite number."""
    return {
        kind: {key: inf if e is None else float(e) for key, e in reported.get(kind, {}).items()} for kind in KINDS
    }


def judged(blank: Proof, programme: Programme, errors: Errors) -> Proof:
    """The proof with its largest errors, its node and whether all of it holds."""
    worst = {kind: max(errors[kind].values(), default=0.0) for kind in KINDS}
    tolerance = TOLERANCE[blank.precision]
    return structs.replace(
        blank,
        passed=all(tolerance.holds(kind, worst[kind]) for kind in KINDS),
        outputs=worst["outputs"],
        gradients=worst["gradients"],
        parameters=worst["parameters"],
        worst_node=first_wrong_node(programme, errors, tolerance.gradients),
    )


def first_wrong_node(programme: Programme, errors: Errors, limit: float) -> str:
    """The node nearest the loss whose parameter's gradient is wrong, since an error spreads from there towards
    the input; if none is wrong, the one with the largest error."""
    place = {name: number for number, node in enumerate(programme.graph.nodes) for name in node.inputs}
    found = [(place[key.split("/", 1)[1]], error) for key, error in errors["gradients"].items()]
    wrong = [number for number, error in found if error > limit]
    if not found:
        return ""
    number = max(wrong) if wrong else max(found, key=lambda item: item[1])[0]
    return programme.graph.nodes[number].name


def with_small_learning_rate(programme: Programme) -> Programme:
    """The same updates with a learning rate at which rounding errors do not grow from step to step."""
    stages = tuple(
        replace(stage, updates=tuple(_slower(update) for update in stage.updates)) for stage in programme.stages
    )
    return replace(programme, stages=stages)


def _slower(update: Update) -> Update:
    rate = min(update.optimizer.learning_rate, LEARNING_RATE)
    return replace(update, optimizer=replace(update.optimizer, learning_rate=rate))


def proof_json(proof: Proof) -> dict[str, object]:
    """What `netdyno verify --json` prints; the reason appears only where there is one."""
    names = ["framework", "network", "dataset", "device", "precision", "execution"]
    names += ["passed", "outputs", "gradients", "parameters", "worst_node", "versions", "size", "resolution"]
    data = {name: getattr(proof, name) for name in names}
    data = {name: None if value == inf else value for name, value in data.items()}
    return {**data, "reason": proof.reason} if proof.reason else data
