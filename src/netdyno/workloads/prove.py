"""Is it the same network? A framework's outputs, gradients and updated parameters against the float64 oracle."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Programme
from netdyno.graph.rewrite import without_randomness
from netdyno.graph.wire import digest
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.request import CaseRequest, ProveRequest
from netdyno.results.proof import Proof
from netdyno.runtime.judge import DONE
from netdyno.runtime.task import Finished, Task, scratch_folder
from netdyno.runtime.worker import Setup, Worker, request_fields
from netdyno.workloads.references import ProofCase, References
from netdyno.workloads.tolerance import KINDS, TOLERANCE, finite_errors, judged, with_small_learning_rate

REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who is to be proved, and how it is run."""

    spec: Spec
    interpreter: Interpreter
    setup: Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Runs proofs: the packed worker, where files go, how long one process may take."""

    archive: Path
    python: Path  # runs the oracle
    scratch: Path
    references: References
    threads: int
    deadline_s: float = 1800.0

    def case(self, title: tuple[str, str], programme: Programme, *, identity: str = "", size: str = "") -> ProofCase:
        """A network as a case; the oracle computes its arrays now unless they are known."""
        case = self.references.case("/".join(title), with_small_learning_rate(without_randomness(programme)))
        case = replace(case, identity=identity, size=size)
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
            finished = self.compare(left, candidate)
            found = finished.log.all(events.Proof)[: len(left)]
            for case, event in zip(left, found, strict=False):
                proofs.append(self._proof(case, candidate, finished, event))
                on_proof(proofs[-1])
            if len(found) < len(left):
                blank = _blank(cases[len(proofs)], candidate, finished.log)
                proofs.append(structs.replace(blank, reason=_why(finished)))
                on_proof(proofs[-1])
        return proofs

    def compare(self, cases: list[ProofCase], candidate: Candidate, role: str = "candidate") -> Finished:
        """What a worker reports about some cases."""
        spec = candidate.spec
        worker = Worker.of(spec, candidate.interpreter, self.archive)
        worker = replace(worker, variables={**worker.variables, **_compile_cache(spec)})
        with scratch_folder(self.scratch, "prove") as folder:
            request = prove_request(cases, worker, candidate.setup, role)
            return Task(worker=worker, request=request, folder=folder, deadline_s=self.deadline_s).run()

    def write_reference(self, cases: list[ProofCase]) -> None:
        """Let the oracle train the cases and keep its arrays for the candidates."""
        if not cases:
            return
        setup = Setup(device="cpu", precision="float32", execution="eager", threads=self.threads)
        own = Interpreter(path=self.python, origin="current")
        oracle = Candidate(spec=find_spec(REFERENCE), interpreter=own, setup=setup)
        finished = self.compare(cases, oracle, REFERENCE)
        if finished.verdict.outcome != DONE:
            raise NetdynoError(f"the reference failed on {cases[0].name}: {_why(finished)}")

    def _proof(self, case: ProofCase, candidate: Candidate, finished: Finished, event: events.Proof) -> Proof:
        blank = _blank(case, candidate, finished.log)
        if finished.log.complaint:
            return structs.replace(blank, reason=_why(finished))
        if event.unsupported:
            return structs.replace(blank, reason=f"unsupported: {event.unsupported}")
        if missing := [kind for kind in KINDS if kind not in event.errors]:
            return structs.replace(blank, reason=f"failed: no errors of {', '.join(missing)} were reported")
        proof = judged(blank, case.programme, finite_errors(event.errors))
        limit = TOLERANCE[proof.precision].outputs
        if proof.outputs is not None and proof.outputs > limit:
            node = self._first_wrong_value(case, candidate, limit)
            proof = structs.replace(proof, worst_node=node or proof.worst_node)
        return proof

    def _first_wrong_value(self, case: ProofCase, candidate: Candidate, limit: float) -> str:
        """Compare again with every node as an output: the first that differs is the one that is wrong."""
        graph = case.programme.graph
        names = tuple(node.name for node in graph.nodes)
        whole = replace(case.programme, graph=replace(graph, outputs=names))
        with scratch_folder(self.scratch, "values") as folder:
            closer = replace(case, programme=whole, arrays=folder / "values.npz")
            self.write_reference([closer])
            event = self.compare([closer], candidate).log.first(events.Proof)
        if event is None or not event.errors:
            return ""
        errors = finite_errors(event.errors)["outputs"]
        return next((name for name in names if errors.get(name, 0.0) > limit), "")


def prove_request(cases: list[ProofCase], worker: Worker, setup: Setup, role: str) -> ProveRequest:
    """Prove several networks in one process."""
    return ProveRequest(
        **request_fields(worker, setup),
        cases=tuple(
            CaseRequest(
                name=case.name,
                programme=worker.wire(case.programme),
                arrays=str(case.arrays),
                role="reference" if role == REFERENCE else "candidate",
                steps=case.steps,
                batches=case.batches,
            )
            for case in cases
        ),
    )


def _compile_cache(spec: Spec) -> dict[str, str]:
    """Proofs say nothing about the time of compiling, so what was compiled for earlier ones may serve again."""
    return {spec.compile_cache: str(home() / "compiled" / spec.name)} if spec.compile_cache else {}


def _blank(case: ProofCase, candidate: Candidate, log: EventLog) -> Proof:
    network, _, dataset = case.name.rpartition("/")
    setup, hello = candidate.setup, log.first(events.Hello)
    return Proof(
        framework=candidate.spec.name,
        network=network,
        dataset=dataset,
        device=setup.device,
        precision=setup.precision,
        execution=setup.execution,
        versions=hello.versions if hello else {},
        python=hello.python if hello else "",
        graph_digest=digest(case.programme),
        graph_identity=case.identity,
        size=case.size or None,
        batch=case.programme.graph.inputs[0].shape[0] if case.programme.graph.inputs else None,
    )


def _why(finished: Finished) -> str:
    """In the words of a proof's reason; a case that was left out has no verdict of its own."""
    verdict = finished.verdict
    if finished.log.complaint:
        return verdict.reason
    if verdict.outcome == DONE:
        return "crashed: no last word"
    return f"{verdict.outcome}: {verdict.reason}"
