"""Do the networks of every family learn, and the same in every framework? On MNIST, trees and a text of yours.

    python benchmarks/learning.py --text FILE [--frameworks pytorch-2,jax] [--tasks vae,lstm] [--seeds 2]

MNIST must be here (netdyno datasets get mnist). A text of two megabytes is enough: Debian's package `fortunes` has
one in parts. Each task has an expectation: more than is reached without what is to be shown, or a limit of our own.
Exit 1 if one is missed, or if frameworks differ by more than their seeds do.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

FRAMEWORKS = ("pytorch-2", "jax", "tensorflow-2", "mxnet-1.9")
WORDS = ("words=1000", "steps=32")
SMALL_GPT2 = (*WORDS, "context=32", "layers=2", "width=128", "heads=4")
# Limits of our own, set after one training of a seed in one framework: they say that a network learns, not how well.
MOST_NATS = 115.0
SPREAD = 4.0  # deviations of the seeds by which two frameworks' means may differ

Curve = Sequence[Mapping[str, float]]
Others = Mapping[str, list[float]]
"""{name of what is compared with: its scores}, by seed where it has seeds."""


@dataclass(frozen=True)
class Task:
    """What is trained, the score that is followed, and whether that shows learning; `every` so many steps it is
    evaluated, or every epoch."""

    name: str
    network: str
    goal: str
    score: str
    shows: Callable[[Curve, Others], bool]
    expected: str
    options: tuple[str, ...] = ()
    batch: int | None = None
    every: int | None = None


def below(curve: Curve, others: Others) -> bool:
    """The loss is under what needs no network."""
    return curve[-1]["loss"] < min(score for name in ("unigram", "bigram") for score in others[name])


def above(name: str) -> Callable[[Curve, Others], bool]:
    return lambda curve, others: curve[-1]["accuracy"] > max(others[name])


def falls(score: str) -> Callable[[Curve, Others], bool]:
    """From evaluation to evaluation but for 5 %, and to less than 0.6 of the first."""

    def shows(curve: Curve, others: Others) -> bool:
        values = [point[score] for point in curve]
        return values[-1] < 0.6 * values[0] and all(b < 1.05 * a for a, b in pairwise(values))

    return shows


def in_balance(curve: Curve, others: Others) -> bool:
    """Neither side has won, and images differ from each other."""
    last = curve[-1]
    return 0.2 < last["discriminator"] < 1.6 and 0.3 < last["generator"] < 6.0 and last["variety"] > 0.02


TASKS = (
    Task(
        name="rbm",
        network="rbm/mnist",
        goal="epochs=3",
        every=300,
        score="reconstruction_error",
        shows=falls("reconstruction_error"),
        expected="the error falls",
    ),
    Task(
        name="vae",
        network="vae/mnist",
        goal="epochs=5",
        score="loss",
        shows=lambda curve, others: curve[-1]["loss"] < MOST_NATS,
        expected=f"a bound under {MOST_NATS:g} nats",
    ),
    Task(
        name="dbn",
        network="dbn/mnist",
        options=("labels=1000", "epochs=2"),
        goal="epochs=100",
        every=100,
        score="accuracy",
        shows=above("drawn"),
        expected="better than its drawn start",
    ),
    Task(
        name="gan",
        network="gan/mnist",
        goal="epochs=4",
        score="variety",
        shows=in_balance,
        expected="losses in balance, images vary",
    ),
    Task(
        name="recursive",
        network="recursive/trees",
        goal="epochs=6",
        score="accuracy",
        shows=above("bag of leaves"),
        expected="better than a bag of its leaves",
    ),
    Task(
        name="lstm",
        network="lstm/text",
        options=(*WORDS, "hidden=128"),
        batch=32,
        goal="epochs=5",
        score="loss",
        shows=below,
        expected="under the bigram's nats",
    ),
    Task(
        name="gpt2",
        network="gpt2/text",
        options=SMALL_GPT2,
        batch=32,
        goal="epochs=2",
        score="loss",
        shows=below,
        expected="under the bigram's nats",
    ),
)


@dataclass(frozen=True)
class Learnt:
    """The curves of a task in a framework, one for each seed, and what they are compared with."""

    framework: str
    curves: list[Curve]
    simple: Mapping[str, float]

    def last(self, score: str) -> list[float]:
        return [curve[-1][score] for curve in self.curves]


def main() -> None:
    options = read_options()
    print(f"{'task':<11}{'framework':<15}{'score':<22}{'first':>9}{'last, by seed':>24}  expected")
    are_met = [is_met(task, options) for task in TASKS if task.name in options.tasks.split(",")]
    sys.exit(0 if all(are_met) else 1)


def is_met(task: Task, options: argparse.Namespace) -> bool:
    """Train, print and judge one task in every framework."""
    found = [train(task, framework, options) for framework in options.frameworks.split(",")]
    drawn = {"drawn": drawn_start(task, options)} if task.name == "dbn" else {}
    are_met = []
    for learnt in found:
        others = {**{name: [score] for name, score in learnt.simple.items()}, **drawn}
        shown = all(task.shows(curve, others) for curve in learnt.curves)
        are_met.append(shown)
        compared = ", ".join(f"{name} {' '.join(f'{s:.4g}' for s in scores)}" for name, scores in others.items())
        lasts = " ".join(f"{score:.5g}" for score in learnt.last(task.score))
        first = learnt.curves[0][0][task.score]
        words = f"{'met' if shown else 'MISSED'}: {task.expected}{f' ({compared})' if compared else ''}"
        print(f"{task.name:<11}{learnt.framework:<15}{task.score:<22}{first:>9.5g}{lasts:>24}  {words}", flush=True)
    return all(are_met) and are_alike(task, found)


def are_alike(task: Task, found: Sequence[Learnt]) -> bool:
    """Whether the frameworks' means are within the spread that seeds have, over all of them."""
    every = [learnt.last(task.score) for learnt in found]
    means = [sum(scores) / len(scores) for scores in every]
    within = [(score - mean) ** 2 for scores, mean in zip(every, means, strict=True) for score in scores]
    freedom = sum(len(scores) - 1 for scores in every)
    if not freedom:
        return True
    deviation = (sum(within) / freedom) ** 0.5
    apart = max(means) - min(means)
    allowed = SPREAD * deviation * (2 / len(every[0])) ** 0.5
    word = "alike" if apart <= allowed else "NOT ALIKE"
    print(f"{task.name:<11}{word}: means {apart:.4g} apart, seeds explain {allowed:.4g}", flush=True)
    return apart <= allowed


def train(task: Task, framework: str, options: argparse.Namespace, *more: str) -> Learnt:
    goal, _, length = task.goal.partition("=")
    command = [sys.executable, "-m", "netdyno", "--store", options.store, "train", "--json"]
    command += ["--framework", framework, "--network", task.network.partition("/")[0], f"--{goal}", length]
    command += [
        "--dataset",
        f"text:{options.text}" if task.network.endswith("/text") else task.network.partition("/")[2],
    ]
    command += ["--seeds", str(options.seeds), *(word for o in (*task.options, *more) for word in ("--set", o))]
    command += ["--batch", str(task.batch)] if task.batch else []
    command += ["--evaluate-every", str(task.every)] if task.every else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{task.name} in {framework}: {done.stderr[-1000:]}{done.stdout[-1000:]}")
    (result,) = json.loads(done.stdout)
    curves = [[{**point, **point.get("scores", {})} for point in seed["curve"]] for seed in result["seeds"]]
    return Learnt(framework, curves, result.get("simple", {}))


def drawn_start(task: Task, options: argparse.Namespace) -> list[float]:
    """The accuracies of the first framework where the layers are not taught before."""
    return train(task, options.frameworks.split(",")[0], options, "start=drawn").last(task.score)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", required=True, help="a file of words")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS))
    parser.add_argument("--tasks", default=",".join(task.name for task in TASKS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--store", default="learning.sqlite")
    return parser.parse_args()


if __name__ == "__main__":
    main()
