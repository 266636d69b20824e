"""Is it the same network? A framework's outputs, gradients and updated parameters against the float64 reference."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Training
from netdyno.graph.settle import settled
from netdyno.harness.events import Event, Story, read_story
from netdyno.harness.folder import write_json
from netdyno.harness.launch import Command, launch
from netdyno.harness.proof import TOLERANCE, finite_errors, judged, tamed
from netdyno.harness.references import References
from netdyno.harness.request import ProofCase, ProofManner, WorkerSide, prove_request
from netdyno.harness.watch import tail, watch
from netdyno.results.proof import Proof

REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who is to be proved, and how it is run."""

    spec: Spec
    interpreter: Interpreter
    manner: ProofManner


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Runs proofs: the packed worker, where files go, how long one process may take."""

    worker: Path
    python: Path  # runs the reference
    scratch: Path
    references: References
    threads: int
    deadline_s: float = 1800.0

    def case(self, title: tuple[str, str], training: Training) -> ProofCase:
        """A network as a case; its reference is computed now unless it is known."""
        case = self.references.case("/".join(title), tamed(settled(training)))
        self.write_reference(self.references.missing([case]))
        self.references.prune()
        return case

    def prove(
        self, cases: list[ProofCase], candidate: Candidate, on_proof: Callable[[Proof], None] = lambda proof: None
    ) -> list[Proof]:
        """Every case in one framework. One process does them all; if it dies, another goes on behind the case
        that it died of."""
        proofs: list[Proof] = []
        while len(proofs) < len(cases):
            left = cases[len(proofs) :]
            story, said = self.errors(left, candidate)
            for case, event in zip(left, story.all("proof"), strict=False):
                proofs.append(self._proof(case, candidate, story, event))
                on_proof(proofs[-1])
            if len(proofs) < len(cases) and len(story.all("proof")) < len(left):
                proofs.append(structs.replace(_blank(cases[len(proofs)], candidate, story), reason=_why(story, said)))
                on_proof(proofs[-1])
        return proofs

    def errors(self, cases: list[ProofCase], candidate: Candidate) -> tuple[Story, str]:
        """What a worker said about some cases, and what it left on stderr."""
        spec, manner = candidate.spec, candidate.manner
        side = WorkerSide.of(spec, candidate.interpreter, self.worker)
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="worker-") as name:
            folder = Path(name)
            write_json(folder / "request.json", prove_request(cases, side, manner))
            command = Command(
                python=candidate.interpreter.path,
                worker=self.worker,
                folder=folder,
                threads=manner.threads,
                variables={**spec.variables, **_compile_cache(spec)},
                program=spec.program,
            )
            ending = watch(launch(command), self.deadline_s, lambda: None)
            late = "no answer before the deadline" if ending.timed_out else ""
            return read_story(folder / "events.jsonl"), late or tail(folder / "stderr.log")

    def write_reference(self, cases: list[ProofCase]) -> None:
        """Let the reference train the cases and keep its arrays for the candidates."""
        if not cases:
            return
        manner = ProofManner(
            role=REFERENCE, device="cpu", precision="float32", execution="eager", threads=self.threads
        )
        own = Interpreter(path=self.python, origin="current")
        oracle = Candidate(spec=find_spec(REFERENCE), interpreter=own, manner=manner)
        story, said = self.errors(cases, oracle)
        if story.last is None or story.last["event"] != "done":
            raise NetdynoError(f"the reference failed on {cases[0].name}: {_why(story, said)}")

    def _proof(self, case: ProofCase, candidate: Candidate, story: Story, event: Event) -> Proof:
        blank = _blank(case, candidate, story)
        if story.complaint:
            return structs.replace(blank, reason=_why(story, ""))
        if "unsupported" in event:
            return structs.replace(blank, reason=f"unsupported: {event['unsupported']}")
        proof = judged(blank, case.training, finite_errors(event["errors"]))
        limit = TOLERANCE[proof.precision].outputs
        if proof.outputs is not None and proof.outputs > limit:
            node = self._first_wrong_value(case, candidate, limit)
            proof = structs.replace(proof, worst_node=node or proof.worst_node)
        return proof

    def _first_wrong_value(self, case: ProofCase, candidate: Candidate, limit: float) -> str:
        """Look again with every node as an output: the first that differs is the one that is wrong."""
        graph = case.training.graph
        names = tuple(node.name for node in graph.nodes)
        whole = replace(case.training, graph=replace(graph, outputs=names))
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="values-") as folder:
            closer = replace(case, training=whole, arrays=Path(folder) / "values.npz")
            self.write_reference([closer])
            story, _ = self.errors([closer], candidate)
        event = story.first("proof")
        if event is None or "errors" not in event:
            return ""
        errors = finite_errors(event["errors"])["outputs"]
        return next((name for name in names if errors.get(name, 0.0) > limit), "")


def _compile_cache(spec: Spec) -> dict[str, str]:
    """Proofs say nothing about the time of compiling, so what was compiled for earlier ones may serve again."""
    return {spec.compile_cache: str(home() / "compiled" / spec.name)} if spec.compile_cache else {}


def _blank(case: ProofCase, candidate: Candidate, story: Story) -> Proof:
    network, _, dataset = case.name.rpartition("/")
    manner, hello = candidate.manner, story.first("hello") or {}
    return Proof(
        framework=candidate.spec.name,
        network=network,
        dataset=dataset,
        device=manner.device,
        precision=manner.precision,
        execution=manner.execution,
        versions=hello.get("versions") or {},
        python=hello.get("python", ""),
    )


def _why(story: Story, said: str) -> str:
    if story.complaint:
        return f"the worker broke its protocol: {story.complaint}"
    if story.last and story.last.get("reason"):
        return f"{story.last['event'].replace('_', ' ')}: {story.last['reason']}"
    return f"crashed: {said or 'no last word'}"
