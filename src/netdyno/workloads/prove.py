"""Is it the same network? A framework's outputs, gradients and updated parameters against the float64 oracle."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec import structs

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.home import home
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.graph.model import Programme
from netdyno.graph.rewrite import without_randomness
from netdyno.graph.wire import digest, identity
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.request import CaseRequest, ProveRequest
from netdyno.results.proof import EXACTLY, Proof
from netdyno.runtime.judge import DONE
from netdyno.runtime.task import Finished, Task, scratch_folder
from netdyno.runtime.worker import Setup, Worker, request_fields
from netdyno.workloads.judgement import KINDS, Evidence, finite, judged
from netdyno.workloads.references import SIZES, ProofCase, References, keep_tensors, kept_tensors

REFERENCE = "reference"

Role = Literal["reference", "replay", "candidate"]


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

    def case(self, title: tuple[str, str], programme: Programme, *, size: str = "") -> ProofCase:
        """A network as a case; the oracle computes its arrays now unless they are known."""
        case = self.references.case("/".join(title), without_randomness(programme))
        case = replace(case, identity=identity(programme), size=size)
        self.compute([case], SIZES)
        self.references.prune()
        return case

    def prove(
        self, cases: list[ProofCase], candidate: Candidate, on_proof: Callable[[Proof], None] = lambda proof: None
    ) -> list[Proof]:
        """Every case in one framework. One process does them all; if it dies, another goes on behind the case
        that it died of."""
        self.compute(cases, candidate.setup.precision)
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

    def compare(self, cases: list[ProofCase], candidate: Candidate, role: Role = "candidate") -> Finished:
        """What a worker reports about some cases."""
        spec = candidate.spec
        worker = Worker.of(spec, candidate.interpreter, self.archive)
        worker = replace(worker, variables={**worker.variables, **_compile_cache(spec)})
        with scratch_folder(self.scratch, "prove") as folder:
            request = prove_request(cases, worker, candidate.setup, role)
            return Task(worker=worker, request=request, folder=folder, deadline_s=self.deadline_s).run()

    def compute(self, cases: list[ProofCase], what: str) -> None:
        """Let the oracle train the cases, or replay them in a precision, and keep what it says of their tensors."""
        missing = self.references.missing(cases, what)
        if not missing:
            return
        precision = EXACTLY if what == SIZES else what
        setup = Setup(device="cpu", precision=precision, execution="eager", threads=self.threads)
        own = Interpreter(path=self.python, origin="current")
        oracle = Candidate(spec=find_spec(REFERENCE), interpreter=own, setup=setup)
        finished = self.compare(missing, oracle, "reference" if what == SIZES else "replay")
        if finished.verdict.outcome != DONE:
            raise NetdynoError(f"the reference failed on {missing[0].name}: {_why(finished)}")
        for case, event in zip(missing, finished.log.all(events.Proof), strict=True):
            keep_tensors(case.kept(what), finite(event.tensors))

    def _proof(self, case: ProofCase, candidate: Candidate, finished: Finished, event: events.Proof) -> Proof:
        blank = _blank(case, candidate, finished.log)
        if finished.log.complaint:
            return structs.replace(blank, reason=_why(finished))
        if event.unsupported:
            return structs.replace(blank, reason=f"unsupported: {event.unsupported}")
        if missing := [kind for kind in KINDS if kind not in event.tensors]:
            return structs.replace(blank, reason=f"failed: nothing was reported of {', '.join(missing)}")
        proof = judged(blank, case.programme, self._evidence(case, candidate, event))
        if any(tensor.kind == "outputs" and not tensor.holds() for tensor in proof.worst):
            proof = structs.replace(proof, worst_node=self._first_wrong_value(case, candidate) or proof.worst_node)
        return proof

    def _evidence(self, case: ProofCase, candidate: Candidate, event: events.Proof) -> Evidence:
        return Evidence(
            precision=candidate.setup.precision,
            sizes=kept_tensors(case.kept(SIZES)),
            noise=kept_tensors(case.kept(candidate.setup.precision)),
            distances=finite(event.tensors),
        )

    def _first_wrong_value(self, case: ProofCase, candidate: Candidate) -> str:
        """Compare again with every node as an output: the first that differs is the one that is wrong."""
        graph = case.programme.graph
        names = tuple(node.name for node in graph.nodes)
        whole = replace(case.programme, graph=replace(graph, outputs=names))
        with scratch_folder(self.scratch, "values") as folder:
            closer = replace(case, programme=whole, arrays=folder / "values.npz", steps=0)
            self.compute([closer], SIZES)
            self.compute([closer], candidate.setup.precision)
            event = self.compare([closer], candidate).log.first(events.Proof)
            if event is None or not event.tensors:
                return ""
            tensors = self._evidence(closer, candidate, event).tensors(whole)
            wrong = {tensor.name for tensor in tensors if tensor.kind == "outputs" and not tensor.holds()}
        return next((name for name in names if name in wrong), "")


def prove_request(cases: list[ProofCase], worker: Worker, setup: Setup, role: Role) -> ProveRequest:
    """Prove several networks in one process."""
    return ProveRequest(
        **request_fields(worker, setup),
        cases=tuple(
            CaseRequest(
                name=case.name,
                programme=worker.wire(case.programme),
                arrays=str(case.arrays),
                role=role,
                steps=case.steps,
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
