"""Which is faster: a framework's own kernel for a composite op, or the op in primitives?

    python benchmarks/fused.py pytorch-2 jax [--ops layer_norm,lstm] [--batch 64] [--runs 3] [--seconds 1]

Each op is measured in a network that is mostly it, with the kernel and lowered, runs taking turns. What an adapter
has in FUSED should not be slower. Exit 1 if a kernel is.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from netdyno.frameworks.environments import find_interpreter
from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import SPECS, Spec, find_spec

NETWORKS = Path(__file__).with_name("fused_networks.py")
OPS = ("silu", "relu6", "hard_swish", "gelu", "layer_norm", "group_norm", "attention", "rnn", "lstm", "gru")
SUITE = """
runs = {runs}
seconds = {seconds}
[matrix]
network = "{networks}:{op}"
framework = ["{name}", "lowered"]
execution = "{execution}"
batch = {batch}
"""


def main() -> None:
    options = read_options()
    slower = [pair for name in options.frameworks for pair in slower_kernels(find_spec(name), options)]
    sys.exit(1 if slower else 0)


def slower_kernels(spec: Spec, options: argparse.Namespace) -> list[str]:
    """Of each execution, the ops whose kernel is surely slower than their primitives."""
    found = []
    for execution in spec.executions:
        for op in OPS:
            if op in fused_ops(spec) and op in options.ops.split(","):
                verdict = compared(spec, execution, op, options)
                found += [op] if verdict == "slower" else []
    return found


def compared(spec: Spec, execution: str, op: str, options: argparse.Namespace) -> str:
    """The verdict on the kernel against the op in primitives."""
    with tempfile.TemporaryDirectory() as folder:
        specs = Path(folder) / "specs"
        specs.mkdir()
        (specs / "lowered.toml").write_text(lowered(spec, op))
        suite = Path(folder) / "suite.toml"
        values = {"networks": NETWORKS, "op": op, "name": spec.name, "execution": execution, "batch": options.batch}
        suite.write_text(SUITE.format(runs=options.runs, seconds=options.seconds, **values))
        netdyno(folder, "run", str(suite), "--python", f"lowered={find_interpreter(spec, {}).path}")
        told = netdyno(folder, "compare", "framework=lowered", f"framework={spec.name}", "--json")
        comparisons = json.loads(told)["comparisons"]
    if not comparisons:
        print(f"{spec.name:17} {execution:9} {op:11} not measured", flush=True)
        return "not measured"
    (it,) = comparisons
    interval = f"[{it['low']:.2f}, {it['high']:.2f}]"
    print(
        f"{spec.name:17} {execution:9} {op:11} kernel ÷ primitives {it['ratio']:6.2f} {interval} {it['verdict']}",
        flush=True,
    )
    return str(it["verdict"])


def lowered(spec: Spec, op: str) -> str:
    """The spec's file under another name, with the op in primitives."""
    lines = (SPECS / f"{spec.name}.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("name =", "lowered ="))]
    return "\n".join(['name = "lowered"', f"lowered = {json.dumps([*spec.lowered, op])}", *kept])


def netdyno(folder: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "netdyno", "--store", f"{folder}/results.sqlite", *arguments]
    variables = {**os.environ, "NETDYNO_SPECS": f"{folder}/specs"}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return done.stdout


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="+")
    parser.add_argument("--ops", default=",".join(OPS))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
