"""Do the bare loops of `make bench-families` train the network that netdyno does, and does a case name it fully?"""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from netdyno.bench.cells import Bench
from netdyno.frameworks.spec import find_spec
from tests.parity.conftest import candidate_for

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from bare_cases import case_of, read_case

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OPTIONS = Namespace(threads=2, device="cpu")
SMALL = "{words=60,steps=8,context=8,width=24,heads=3,layers=1}"
VIT, GPT2, BERT = "vit-b16/imagenet{width=24,heads=3,layers=1}", f"gpt2/text{SMALL}", f"bert-base/text{SMALL}"
DCGANS = ("dcgan/mnist{width=0.125}", "dcgan/faces64{width=0.125}")
WHOLE = ("lstm/text", "rbm/mnist", "vae/mnist")
CASES = [
    *(f"pytorch-2:{network}:2:float32:eager" for network in (*WHOLE, *DCGANS)),
    *(f"pytorch-2:{network}:2:bfloat16:eager" for network in (VIT, GPT2, BERT)),
    *(f"jax:{network}:2:float32:compiled" for network in WHOLE),
    *(f"jax:{network}:2:bfloat16:compiled" for network in (VIT, GPT2)),
    *(f"tensorflow-2:{network}:2:float32:eager" for network in WHOLE),
]


@pytest.mark.parametrize("case", CASES)
def test_a_bare_loop_trains_two_steps_of_a_network_with_as_many_parameters(case):
    cell = read_case(case, OPTIONS)
    told = ["--parameters", str(_parameters(cell))] if cell.options else []  # else it knows how many there should be
    done = _run(cell, *told)
    assert done.stdout.count("block: ") == 2, done.stderr


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_written_as_it_was_read(case):
    cell = read_case(case, OPTIONS)
    assert read_case(case_of(cell), OPTIONS) == cell


def test_a_bare_loop_of_another_network_is_refused():
    cell = read_case("pytorch-2:rbm/mnist{hidden=40}:2:float32:eager", OPTIONS)
    done = _run(cell, "--parameters", "7")
    assert done.returncode == 1
    assert "expected 7 parameters, received 32,184" in done.stderr


def _run(cell, *flags):
    spec = find_spec(cell.framework)
    python = str(candidate_for(spec, cell.execution).interpreter.path)
    command = [python, str(BENCHMARKS / f"bare_{spec.adapter}.py"), *flags, "--batch", str(cell.batch)]
    for name in ("network", "dataset", "precision", "execution"):
        command += [f"--{name}", getattr(cell, name)]
    for name, value in cell.options:
        command += ["--set", f"{name}={value}"]
    variables = {**os.environ, **spec.variables, "OMP_WAIT_POLICY": "PASSIVE"}
    return subprocess.run(command, input="2\n", capture_output=True, text=True, env=variables, check=False)


def _parameters(cell):
    bench = Bench(threads=2, folder=Path.cwd(), framework=cell.framework)
    return bench.programme(cell).graph.parameter_count()
