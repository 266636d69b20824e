"""The nine cases proved on one GPU, at full size, in every execution and precision.

    python benchmarks/gpu_proofs.py [--framework NAME] [--execution NAME …] [--precision NAME …] [--network NAME …]

Networks are proved side by side, because the oracle computes on the CPU: this says nothing about speed. Every proof
is of float64 too. Exits with 1 if something is not equal.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

KINDS = ("outputs", "gradients", "parameters")
ROW = "{:18} {:11} {:10} {:>2} {:9} {:>17} {:>17} {:>17}"
# The one that takes the oracle longest comes first.
CASES = (
    "vgg16/imagenet",
    "resnet50/imagenet",
    "alexnet/imagenet",
    "googlenet/imagenet",
    "resnet50/cifar10",
    "googlenet/cifar10",
    "vgg16/cifar10",
    "alexnet/cifar10",
    "lenet/mnist",
)


def main() -> None:
    options = read_options()
    start = time.monotonic()
    print(ROW.format("case", "execution", "precision", "b", "same?", *KINDS).rstrip())
    found: list[dict[str, Any]] = []
    with ThreadPoolExecutor(options.at_once) as pool:
        for proofs in pool.map(lambda network: proved(network, options), options.network):
            found += proofs
            if options.keep:
                Path(options.keep).write_text(json.dumps(found))
    held = sum(proof["passed"] for proof in found)
    print(f"{held} of {len(found)} equal, {time.monotonic() - start:.0f} s")
    sys.exit(0 if found and held == len(found) else 1)


def proved(network: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every way of one network, one after the other; what was compiled for one serves the next."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for execution in options.execution:
        for precision in options.precision:
            for proof in verify(network, execution, precision, options):
                if (execution, proof["precision"]) not in found:
                    found[execution, proof["precision"]] = proof
                    print("\n".join(lines(proof)), flush=True)
    return list(found.values())


def verify(network: str, execution: str, precision: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    start = time.monotonic()
    how = ("--framework", options.framework, "--execution", execution, "--precision", precision)
    where = ("--gpus", "1") if options.gpus else ("--cpu",)
    command = [sys.executable, "-m", "netdyno", "verify", "--network", network, *how, *where, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"{network} {execution} {precision}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if done.returncode > 1:
        print(done.stderr, file=sys.stderr)
        return []
    return list(json.loads(done.stdout))


def lines(proof: dict[str, Any]) -> Iterator[str]:
    """A row: every kind's largest error, and the error that would have been seen; then what is wrong."""
    name = f"{proof['network']}/{proof['dataset']}"
    same = "yes" if proof["passed"] else "NO"
    own = (name, short(proof["execution"]), proof["precision"], proof["batch"] or "", same)
    yield ROW.format(*own, *cells(proof)).rstrip()
    if proof.get("reason"):
        yield f"    {proof['reason'][:200]}"
    for tensor in proof["worst"][:3] if not proof["passed"] else ():
        yield f"    {tensor['kind']} {tensor['name']}: off by {tensor['off_by']}, limit {tensor['limit']}"


def cells(proof: dict[str, Any]) -> Iterator[str]:
    for kind in KINDS:
        error, sees = proof[kind], proof["resolution"].get(kind) if proof["resolution"] else None
        yield f"{error:.0e} sees {sees:.0e}" if error is not None and sees is not None else "–"


def short(execution: str) -> str:
    return execution.replace("compiled-cudagraph", "comp+graph")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", default="pytorch-2")
    parser.add_argument("--execution", nargs="+", default=["eager", "cudagraph", "compiled", "compiled-cudagraph"])
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--network", nargs="+", default=list(CASES))
    parser.add_argument("--cpu", dest="gpus", action="store_false", help="on the CPU instead")
    parser.add_argument("--at-once", type=int, default=5, help="networks side by side")
    parser.add_argument("--keep", help="a file for all that was said, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
