"""How mutated networks are computed: many in each process, by the oracle and by frameworks whose adapters can be
wrong on request."""

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from proof_mutations import BOTH, Mutation
from proof_networks import Network

from netdyno.bench.proofs import candidate
from netdyno.errors import NetdynoError
from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import Spec, find_spec
from netdyno.protocol import events
from netdyno.runtime.worker import Setup
from netdyno.workloads.prove import REFERENCE, Candidate, Prover
from netdyno.workloads.references import ProofCase

ADAPTERS = Path(__file__).parent / "mutants" / "adapters"
ORACLE = REFERENCE
MEASURED = "float32"
AT_ONCE = 40  # cases in one process
GUESS_S = 2.0  # for a proof, in a framework that has made none yet

Found = dict[tuple[str, str, tuple[str, str]], events.Proof]  # by framework, precision and what is mutated how


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutated:
    """A mutation of a network: `case` has the right one's arrays and the wrong one's programme. Without a mutation it
    is the network as it is, which must pass."""

    network: Network
    mutation: Mutation | None
    right: ProofCase
    case: ProofCase

    @property
    def key(self) -> tuple[str, str]:
        return self.network.name, f"{self.mutation.kind} {self.mutation.strength}" if self.mutation else ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the mutation is left in a proof."""
        return self.mutation is not None and self.case.programme == self.right.programme

    @property
    def precisions(self) -> tuple[str, ...]:
        return self.mutation.precisions if self.mutation else BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one framework computes in one precision."""

    framework: str
    precision: str
    mutated: list[Mutated]


def run_all(jobs: list[Job], prover: Prover) -> Found:
    """Every job, a part at a time, with how much is left on stderr."""
    found: Found = {}
    waiting = [
        replace(job, mutated=job.mutated[start : start + AT_ONCE])
        for job in jobs
        for start in range(0, len(job.mutated), AT_ONCE)
    ]
    each_s: dict[str, float] = {}  # by framework, of its last part
    while waiting:
        part, *waiting = waiting
        began = time.monotonic()
        found.update(run(part, prover))
        each_s[part.framework] = (time.monotonic() - began) / len(part.mutated)
        left_s = sum(len(each.mutated) * each_s.get(each.framework, GUESS_S) for each in waiting)
        words = f"{part.framework} {part.precision}: {len(part.mutated)} proofs, {left_s / 60:.0f} min left"
        print(words, file=sys.stderr, flush=True)
    return found


def run(job: Job, prover: Prover) -> Found:
    """One process for all; if it dies, another goes on behind the case that it died of, which counts as refused."""
    who = mutant(job.framework, job.precision, prover.threads)
    found: Found = {}
    left = job.mutated
    while left:
        finished = prover.compare([each.case for each in left], who)
        said = finished.log.all(events.Proof)[: len(left)]
        for each, event in zip(left, said, strict=False):
            found[job.framework, job.precision, each.key] = event
        if len(said) < len(left):
            each = left[len(said)]
            print(f"{each.key} in {job.framework}: {finished.verdict.reason}", file=sys.stderr)
            reason = finished.verdict.reason or "the process ended"
            found[job.framework, job.precision, each.key] = events.Proof(
                at=0.0, case=each.case.name, unsupported=reason
            )
        left = left[len(said) + 1 :]
    return found


def mutant(framework: str, precision: str, threads: int) -> Candidate:
    """The framework with an adapter that makes the catalogue's mistakes where a programme asks for one."""
    spec = find_spec(framework)
    right = candidate(spec, {}, Setup(device="cpu", precision=precision, execution="", threads=threads))
    return replace(right, spec=mutant_spec(spec))


def mutant_spec(spec: Spec) -> Spec:
    wrong = replace(spec, adapter=f"mutant_{spec.adapter}", worker_path=ADAPTERS)
    if not (ADAPTERS / f"{wrong.adapter}.py").is_file():
        raise NetdynoError(f"{spec.name}: expected an adapter that can be wrong, {ADAPTERS / wrong.adapter}.py.")
    if fused_ops(wrong) != fused_ops(spec):
        raise NetdynoError(f"{wrong.adapter}: expected FUSED {set(fused_ops(spec))}, as in the right adapter.")
    return wrong
