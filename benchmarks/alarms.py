"""Is a right network ever called wrong? Networks drawn at random from the builder, proved in several frameworks.

    PYTHONPATH=. python benchmarks/alarms.py [--count 200] [--seed 0] [--framework A --framework B …] [--shrink 4]

Every network is proved as `netdyno verify` does it: in float64 where a framework has it, and in float32. Whatever is
not equal is an alarm: of the proof if it is too strict, of a framework if that computes something else. It is made
smaller until only its cause is left. Exit 1 if there is one.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random

from tests.parity.random_layers import random_network
from tests.parity.random_networks import Drawn, programme_of, smaller

from netdyno.bench.proofs import candidates, make_prover
from netdyno.frameworks.spec import find_spec
from netdyno.graph.rewrite import without_randomness
from netdyno.graph.wire import identity
from netdyno.results.proof import Proof, Tensor
from netdyno.runtime.worker import Setup
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import SIZES, ProofCase

FRAMEWORKS = ("pytorch-2", "jax", "tensorflow-2", "mxnet-1.9")
AT_ONCE = 10  # networks in one process: importing a framework takes longer than proving a small one
JOBS = 2  # processes at a time: half of a proof is compiling, which one core does
ALARMS = ("WRONG", "failed")
WORDS = ("equal", "unsupported", *ALARMS)


def main() -> None:
    options = read_options()
    prover = make_prover(threads=2)
    drawn = {seed: random_network(Random(seed)) for seed in range(options.seed, options.seed + options.count)}
    setup = Setup(device="cpu", precision="float32", execution="", threads=2)
    found = [one for name in options.framework for one in candidates(find_spec(name), {}, setup)]
    cases = prove_ready(prover, drawn, {one.setup.precision for one in found})
    proofs = prove_all(prover, cases, found)
    print("\n".join([*counts(proofs), *nearest_limits(proofs)]), flush=True)
    alarms = [answer for answer in proofs if answer.word() in ALARMS]
    for alarm in first_of_each(alarms)[: options.shrink]:
        print("\n".join(shrunk(prover, drawn[alarm.seed], alarm)), flush=True)
    sys.exit(1 if alarms else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the proof of one network in one framework said."""

    seed: int
    candidate: Candidate
    proof: Proof

    def word(self) -> str:
        if self.proof.reason:
            return "unsupported" if self.proof.reason.startswith("unsupported") else "failed"
        return "equal" if self.proof.passed else "WRONG"

    def way(self) -> str:
        return f"{self.proof.framework} {self.proof.precision}"

    def is_like(self, other: "Answer") -> bool:
        """The same word, and if that is WRONG, at least a tenth as wrong: another cause is often less so."""
        if self.word() != other.word():
            return False
        return self.word() != "WRONG" or self.proof.worst[0].share() > other.proof.worst[0].share() / 10

    def told(self) -> Iterator[str]:
        """Its worst tensors, or why there are none."""
        yield f"{self.word()} {self.way()} seed {self.seed}: {self.proof.reason or self.proof.difference()}"
        for tensor in self.proof.worst[:3]:
            yield f"    {told(tensor)}"


def told(tensor: Tensor) -> str:
    off_by = "no number" if tensor.off_by is None else f"{tensor.off_by:.1e}"
    sizes = f"size {tensor.size:.1e}, off by {off_by}, limit {tensor.limit:.1e}: {tensor.share():.2f} of it"
    return f"{tensor.kind} {tensor.name}: {sizes}"


def prove_ready(prover: Prover, drawn: dict[int, Drawn], precisions: set[str]) -> dict[int, ProofCase]:
    """Every network as a case with its reference and what rounding makes of it."""
    cases = {seed: case_of(prover, f"seed{seed}", one) for seed, one in drawn.items()}
    parts = list(in_parts(list(cases.values())))
    start = time.monotonic()
    with ThreadPoolExecutor(JOBS) as pool:
        for place, _ in enumerate(pool.map(lambda part: compute(prover, part, precisions), parts), 1):
            say("references", place, len(parts), start)
    return cases


def compute(prover: Prover, cases: list[ProofCase], precisions: set[str]) -> None:
    for what in (SIZES, *sorted(precisions)):
        prover.compute(cases, what)


def case_of(prover: Prover, name: str, drawn: Drawn) -> ProofCase:
    programme = programme_of(drawn)
    case = prover.references.case(f"{name}/drawn", without_randomness(programme))
    return replace(case, identity=identity(programme), size=f"{drawn.images[2]}×{drawn.images[3]}")


def prove_all(prover: Prover, cases: dict[int, ProofCase], found: list[Candidate]) -> list[Answer]:
    """Every network in every framework, some of them in one process."""
    tasks = [(part, one) for part in in_parts(list(cases)) for one in found]
    answers: list[Answer] = []
    start = time.monotonic()

    def prove(task: tuple[list[int], Candidate]) -> list[Answer]:
        seeds, one = task
        proofs = prover.prove([cases[seed] for seed in seeds], one)
        return [Answer(seed=s, candidate=one, proof=p) for s, p in zip(seeds, proofs, strict=True)]

    with ThreadPoolExecutor(JOBS) as pool:
        for place, some in enumerate(pool.map(prove, tasks), 1):
            answers += some
            for answer in some:
                if answer.word() in ALARMS:
                    print("\n".join(answer.told()), flush=True)
            words = Counter(answer.word() for answer in answers)
            say(", ".join(f"{count} {word}" for word, count in words.items()), place, len(tasks), start)
    return answers


def counts(answers: list[Answer]) -> Iterator[str]:
    """Per framework and precision; poor are those in which rounding hides a tenth of something."""
    for way in dict.fromkeys(answer.way() for answer in answers):
        own = [answer for answer in answers if answer.way() == way]
        words = Counter(answer.word() for answer in own)
        poor = sum(answer.proof.is_poor() for answer in own)
        yield f"{way:24} " + ", ".join(f"{words[word]} {word}" for word in WORDS) + f"; {poor} of poor resolution"
        for reason, count in Counter(a.proof.reason for a in own if a.word() == "unsupported").most_common(5):
            yield f"    {count} × {reason[:150]}"


def nearest_limits(answers: list[Answer]) -> Iterator[str]:
    """By kind of tensor, the largest share of a limit that was needed; of the tensors that a proof keeps."""
    largest: dict[tuple[str, str], tuple[float, int, Tensor]] = {}
    for answer in answers:
        for tensor in answer.proof.worst:
            key, share = (answer.way(), tensor.kind), tensor.share()
            if key not in largest or share > largest[key][0]:
                largest[key] = (share, answer.seed, tensor)
    yield "largest share of a limit:"
    for (way, _), (_, seed, tensor) in sorted(largest.items()):
        yield f"    {way:24} seed {seed}, {told(tensor)}"


def first_of_each(alarms: list[Answer]) -> list[Answer]:
    """One alarm for each framework, precision, kind of tensor and op, smallest network first."""
    found: dict[tuple[str, ...], Answer] = {}
    for alarm in alarms:
        worst = alarm.proof.worst[0] if alarm.proof.worst else None
        cause = (worst.kind, worst.node.rstrip("0123456789")) if worst else (alarm.proof.reason[:60],)
        found.setdefault((alarm.way(), *cause), alarm)
    return list(found.values())


def shrunk(prover: Prover, drawn: Drawn, alarm: Answer) -> Iterator[str]:
    """Leave out runs of layers, shorter and shorter ones, as long as the same is said of the rest."""
    precision, at_once = alarm.candidate.setup.precision, len(drawn.layers) // 2
    last, start = alarm, time.monotonic()
    while at_once:
        rest = list(smaller(drawn, at_once))
        cases = [case_of(prover, f"seed{alarm.seed}", one) for one in rest]
        compute(prover, cases, {precision})
        proofs = prover.prove(cases, alarm.candidate)
        answers = (Answer(seed=alarm.seed, candidate=alarm.candidate, proof=proof) for proof in proofs)
        still = next(((one, a) for one, a in zip(rest, answers, strict=True) if a.is_like(alarm)), None)
        if still is None:
            at_once //= 2
            continue
        drawn, last = still
        at_once = min(at_once, len(drawn.layers) // 2)
    yield f"shrunk to {len(drawn.layers)} layers in {time.monotonic() - start:.0f} s: images {drawn.images}"
    yield from last.told()
    yield f"    {drawn.optimizer}"
    for number, layer in enumerate(drawn.layers, 1):
        tied = f", weight of {layer.tied_to}" if layer.tied_to else ""
        yield f"    {number} = {layer.op}({', '.join(map(str, layer.inputs))}{tied}) {dict(layer.arguments)}"


def in_parts(values: list) -> Iterator[list]:
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def say(what: str, place: int, count: int, start: float) -> None:
    taken_s = time.monotonic() - start
    left_s = taken_s / place * (count - place)
    print(f"[{place}/{count}] {what}; {taken_s:.0f} s, about {left_s:.0f} s left", flush=True)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="of networks")
    parser.add_argument("--seed", type=int, default=0, help="of the first network; the next have the next ones")
    parser.add_argument("--framework", action="append", help="repeatable; default: " + " ".join(FRAMEWORKS))
    parser.add_argument("--shrink", type=int, default=4, help="how many alarms to make smaller; 0 for none")
    options = parser.parse_args()
    options.framework = options.framework or list(FRAMEWORKS)
    return options


if __name__ == "__main__":
    main()
