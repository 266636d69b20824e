"""Is it the same network? A framework's outputs, gradients and updated parameters against the float64 reference."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Training
from netdyno.graph.settle import settled
from netdyno.harness.events import Story, read_story
from netdyno.harness.folder import write_json
from netdyno.harness.launch import Command, launch
from netdyno.harness.request import ProofCase, ProofManner, WorkerSide, prove_request
from netdyno.harness.watch import tail, watch
from netdyno.harness.worker_file import worker_hash

REFERENCE = "reference"
LEARNING_RATE = 1e-4  # at most: rounding errors must not grow from one update to the next

Errors = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The largest relative error (root mean square, over the reference's) that rounding explains."""

    outputs: float
    losses: float
    gradients: float
    parameters: float
    moved: float  # how far parameters are from where they started; wide, because it hangs on every kink on the way

    def holds(self, kind: str, error: float) -> bool:
        limit: float = getattr(self, kind)
        return error <= limit


TOLERANCE: Mapping[str, Tolerance] = {
    "float32": Tolerance(outputs=1e-4, losses=1e-3, gradients=3e-2, parameters=5e-3, moved=0.5),
    "tf32": Tolerance(outputs=2e-2, losses=2e-2, gradients=0.2, parameters=2e-2, moved=0.7),
    "bfloat16": Tolerance(outputs=0.1, losses=5e-2, gradients=0.5, parameters=5e-2, moved=0.8),
    "float16": Tolerance(outputs=2e-2, losses=2e-2, gradients=0.2, parameters=2e-2, moved=0.7),
}
KINDS = ("outputs", "losses", "gradients", "parameters", "moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One framework on one network: the largest relative error of each kind, or the reason there is none."""

    framework: str
    network: str
    dataset: str
    passed: bool
    outputs: float | None = None
    gradients: float | None = None
    parameters: float | None = None
    worst_node: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `netdyno verify --json` prints; the reason appears only where there is one."""
        names = ("framework", "network", "dataset", "passed", "outputs", "gradients", "parameters", "worst_node")
        data = {name: getattr(self, name) for name in names}
        data = {name: None if value == inf else value for name, value in data.items()}
        return {**data, "reason": self.reason} if self.reason else data


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who is to be proved, and how it is run."""

    spec: Spec
    python: Path
    manner: ProofManner


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Runs proofs: where workers are packed, where files go, how long one may take."""

    worker: Path
    python: Path  # runs the reference
    scratch: Path
    threads: int
    deadline_s: float = 1800.0

    def prove(self, training: Training, title: tuple[str, str], candidates: list[Candidate]) -> list[Proof]:
        """One network in every candidate; the reference is computed once and thrown away at the end."""
        fair = tamed(settled(training))
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="proof-") as name:
            case = ProofCase(name="/".join(title), training=fair, arrays=Path(name) / "reference.npz")
            self.write_reference([case])
            return [self._prove_one(case, candidate) for candidate in candidates]

    def errors(self, cases: list[ProofCase], candidate: Candidate) -> tuple[Story, str]:
        """What a worker said about some cases, and what it left on stderr."""
        spec, manner = candidate.spec, candidate.manner
        side = WorkerSide(
            adapter=spec.adapter,
            adapter_path=(str(spec.worker_path),) if spec.worker_path else (),
            worker_hash=worker_hash(self.worker),
        )
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="worker-") as name:
            folder = Path(name)
            write_json(folder / "request.json", prove_request(cases, side, manner))
            command = Command(python=candidate.python, worker=self.worker, folder=folder, threads=manner.threads)
            ending = watch(launch(command), self.deadline_s, lambda: None)
            late = "no answer before the deadline" if ending.timed_out else ""
            return read_story(folder / "events.jsonl"), late or tail(folder / "stderr.log")

    def write_reference(self, cases: list[ProofCase]) -> None:
        """Let the reference train the cases and keep its arrays for the candidates."""
        manner = ProofManner(
            role=REFERENCE, device="cpu", precision="float32", execution="eager", threads=self.threads
        )
        oracle = Candidate(spec=find_spec(REFERENCE), python=self.python, manner=manner)
        story, said = self.errors(cases, oracle)
        if story.last is None or story.last["event"] != "done":
            raise NetdynoError(f"the reference failed on {cases[0].name}: {_why(story, said)}")

    def _prove_one(self, case: ProofCase, candidate: Candidate) -> Proof:
        network, _, dataset = case.name.rpartition("/")
        blank = Proof(framework=candidate.spec.name, network=network, dataset=dataset, passed=False)
        story, said = self.errors([case], candidate)
        proof = story.first("proof")
        if proof is None or story.complaint:
            return replace(blank, reason=_why(story, said))
        errors = {kind: {key: _finite(error) for key, error in proof["errors"][kind].items()} for kind in KINDS}
        worst = {kind: max(errors[kind].values(), default=0.0) for kind in KINDS}
        tolerance = TOLERANCE[candidate.manner.precision]
        node = first_wrong_node(case.training, errors, tolerance.gradients)
        if not tolerance.holds("outputs", worst["outputs"]):
            node = self._first_wrong_value(case, candidate, tolerance.outputs) or node
        return replace(
            blank,
            passed=all(tolerance.holds(kind, worst[kind]) for kind in KINDS),
            outputs=worst["outputs"],
            gradients=worst["gradients"],
            parameters=worst["parameters"],
            worst_node=node,
        )

    def _first_wrong_value(self, case: ProofCase, candidate: Candidate, limit: float) -> str:
        """Look again with every node as an output: the first that differs is the one that is wrong."""
        graph = case.training.graph
        names = tuple(node.name for node in graph.nodes)
        whole = replace(case.training, graph=replace(graph, outputs=names))
        closer = replace(case, training=whole, arrays=case.arrays.with_name("values.npz"))
        self.write_reference([closer])
        story, _ = self.errors([closer], candidate)
        proof = story.first("proof")
        if proof is None:
            return ""
        errors = {name: _finite(error) for name, error in proof["errors"]["outputs"].items()}
        return next((name for name in names if errors.get(name, 0.0) > limit), "")


def first_wrong_node(training: Training, errors: Errors, limit: float) -> str:
    """The node nearest the loss whose parameter's gradient is wrong, since an error spreads from there towards
    the input; if none is wrong, the one with the largest error."""
    place = {name: number for number, node in enumerate(training.graph.nodes) for name in node.inputs}
    found = [(place[key.split("/", 1)[1]], error) for key, error in errors["gradients"].items()]
    wrong = [number for number, error in found if error > limit]
    if not found:
        return ""
    number = max(wrong) if wrong else max(found, key=lambda item: item[1])[0]
    return training.graph.nodes[number].name


def tamed(training: Training) -> Training:
    """The same updates with a learning rate at which rounding errors do not grow from step to step."""
    updates = tuple(
        replace(
            update,
            optimizer=replace(update.optimizer, learning_rate=min(update.optimizer.learning_rate, LEARNING_RATE)),
        )
        for update in training.updates
    )
    return replace(training, updates=updates)


def _why(story: Story, said: str) -> str:
    if story.complaint:
        return f"the worker broke its protocol: {story.complaint}"
    if story.last and story.last.get("reason"):
        return f"{story.last['event'].replace('_', ' ')}: {story.last['reason']}"
    return f"crashed: {said or 'no last word'}"


def _finite(error: Any) -> float:
    """JSON's null stands for an error that is not a finite number."""
    return inf if error is None else float(error)
