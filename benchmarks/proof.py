"""Does a proof see that a network is slightly wrong? A catalogue of mutations over small networks and frameworks.

    python benchmarks/proof.py [--networks lenet/mnist,residual] [--frameworks pytorch-2,jax] [--everything]

Each mutation is made in the candidate only, and compared with the arrays of the right network. Whether there is
anything to see is for the oracle to say: it computes the mutated programme too, and a mutation is visible where that
moves a tensor by more than the proof's resolution. Exits with 1 if under 98 % of the visible ones are caught.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace

from proof_mutations import MUTATIONS
from proof_networks import NETWORKS, Network
from proof_report import Trial, print_report
from proof_runs import MEASURED, ORACLE, Found, Job, Mutated, mutant_spec, run_all
from proof_verdicts import Sight, old_rule_catches, sight

from netdyno.bench.proofs import make_prover
from netdyno.frameworks.spec import find_spec
from netdyno.graph.rewrite import without_randomness
from netdyno.results.proof import EXACTLY
from netdyno.workloads.prove import Prover

FRAMEWORKS = ("pytorch-2", "jax", "tensorflow-2")
ENOUGH = 0.98


def main() -> None:
    options = read_options()
    for framework in options.frameworks:
        mutant_spec(find_spec(framework))  # now, not after the frameworks before it
    prover = make_prover(options.threads)
    mutated = [each for network in options.networks for each in mutations_of(network, prover)]
    found = run_all(list(jobs(mutated, options)), prover)
    trials = [trial for framework in options.frameworks for trial in judged(framework, mutated, found)]
    sys.exit(0 if print_report(trials, ENOUGH) else 1)


def mutations_of(network: Network, prover: Prover) -> Iterator[Mutated]:
    """The network as it is, then every mutation of it that it has something for."""
    programme = network.make()
    name, _, dataset = network.name.partition("/")
    print(f"the oracle and its replays: {network.name}", file=sys.stderr, flush=True)
    right = prover.case((name, dataset or "drawn"), programme)
    for precision in (EXACTLY, MEASURED):
        prover.compute([right], precision)
    yield Mutated(network=network, mutation=None, right=right, case=right)
    for mutation in MUTATIONS:
        is_chosen = not network.is_large or (mutation.is_usual and mutation.kind.startswith(network.kinds))
        wrong = mutation.rewrite(programme) if is_chosen else None
        if wrong is not None:
            case = replace(right, programme=without_randomness(wrong))
            yield Mutated(network=network, mutation=mutation, right=right, case=case)


def jobs(mutated: list[Mutated], options: argparse.Namespace) -> Iterator[Job]:
    """The oracle and the first framework compute everything; further frameworks what is usual, on two networks."""
    present = [each for each in mutated if not each.is_empty]
    yield Job(framework=ORACLE, precision=EXACTLY, mutated=present)
    for place, framework in enumerate(options.frameworks):
        own = present if place == 0 or options.everything else usual(present)
        for precision in (EXACTLY, MEASURED):
            if precision in find_spec(framework).precisions:
                chosen = [each for each in own if precision in each.precisions]
                yield Job(framework=framework, precision=precision, mutated=chosen)


def usual(mutated: list[Mutated]) -> list[Mutated]:
    """Small networks as they are, and each kind in its usual strength on two of them, in turn over the networks."""
    small = [each for each in mutated if not each.network.is_large]
    chosen = {each.key for each in small if each.mutation is None}
    for turn, mutation in enumerate(mutation for mutation in MUTATIONS if mutation.is_usual):
        own = [each.key for each in small if each.mutation == mutation]
        chosen.update(own[(turn + half) % len(own)] for half in (0, len(own) // 2) if own)
    return [each for each in small if each.key in chosen]


def judged(framework: str, mutated: list[Mutated], found: Found) -> Iterator[Trial]:
    """What a framework's proofs say of each mutation that it was given, or of which nothing is left in a proof."""
    for each in mutated:
        sights: dict[str, Sight] = {}
        caught_before = refusal = None
        for precision in (EXACTLY, MEASURED):
            event = found.get((framework, precision, each.key))
            if event is None:
                continue
            if event.unsupported:
                refusal = event.unsupported
                continue
            sights[precision] = sight(each.right, precision, found[ORACLE, EXACTLY, each.key], event)
            if precision == MEASURED:
                caught_before = old_rule_catches(each.right, event)
        if sights or each.is_empty or refusal:
            yield Trial(
                framework=framework,
                network=each.network.name,
                mutation=each.mutation,
                is_empty=each.is_empty,
                sights=sights,
                caught_before=caught_before,
                refusal=refusal or "",
            )


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [network.name for network in NETWORKS]
    parser.add_argument("--networks", default=",".join(names), help="of " + " ".join(names))
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS), help="the first gets every mutation")
    parser.add_argument("--everything", action="store_true", help="also in the frameworks after the first: hours")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.frameworks = options.frameworks.split(",")
    chosen = options.networks.split(",")
    if not set(chosen) <= set(names):
        parser.error(f"expected networks among {names}, received {chosen}")
    options.networks = [network for network in NETWORKS if network.name in chosen]
    return options


if __name__ == "__main__":
    main()
