"""Does an adapter compute in the precisions that its spec declares: as narrow as it says, and no worse than that?

Also what only a running framework shows: that a step whose gradients overflow is skipped, and that stages run.
"""

import json
import os
import subprocess
from math import inf
from pathlib import Path

import pytest

from netdyno.frameworks.spec import find_spec
from netdyno.results.proof import Proof
from netdyno.workloads.judgement import MULTIPLES
from netdyno.workloads.references import SIZES, kept_tensors
from tests.parity.conftest import CASES, candidate_for, proved_specs

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "src" / "netdyno_worker" / "adapters"
NETWORKS = [case for case in CASES if case.startswith("network/")]
DEEPEST = "network/residual"
NARROW = [
    (spec, precision)
    for spec in proved_specs()
    for precision in spec.precisions
    if precision in ("bfloat16", "float16")  # tf32 is a mode of CUDA devices, float32 is proved op by op
]
SCALED = [spec for spec, precision in NARROW if precision == "float16"]
STAGED = [spec for spec in proved_specs() if "def stages" in (ADAPTERS / spec.adapter / "trainer.py").read_text()]
_proved: dict[tuple[str, str], dict[str, Proof]] = {}


def _proofs(prover, cases, spec, precision):
    """All networks in one process of the framework."""
    key = (spec.name, precision)
    if key not in _proved:
        chosen = [case for case in cases if case.name in NETWORKS]
        found = prover.prove(chosen, candidate_for(spec, spec.executions[0], precision))
        _proved[key] = dict(zip([case.name for case in chosen], found, strict=True))
    return _proved[key]


@pytest.mark.parametrize("case", NETWORKS)
@pytest.mark.parametrize(("spec", "precision"), NARROW, ids=lambda value: getattr(value, "name", value))
def test_an_adapter_is_as_exact_as_the_precision_it_declares(prover, cases, spec, precision, case):
    proof = _proofs(prover, cases, spec, precision)[case]
    assert proof.passed, proof.reason or [tensor for tensor in proof.worst if not tensor.holds()]


@pytest.mark.parametrize(("spec", "precision"), NARROW, ids=lambda value: getattr(value, "name", value))
def test_a_narrow_precision_does_not_pass_for_float32(prover, cases, spec, precision):
    """A library that quietly computes in float32 would; so would a limit that lets everything pass."""
    (case,) = [case for case in cases if case.name == DEEPEST]
    prover.compute([case], "float32")
    noise = kept_tensors(case.kept("float32"))["outputs"]
    sizes = kept_tensors(case.kept(SIZES))["outputs"]
    narrow = _proofs(prover, cases, spec, precision)[DEEPEST]
    assert MULTIPLES["float32"] * max(noise[name] / sizes[name] for name in noise) < narrow.outputs < inf


# In the framework's own interpreter, which has no pytest.
PREAMBLE = """
import json, sys
sys.path[:0] = {paths!r}
import numpy as np
from netdyno_worker.contract import load_adapter
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.program import read_program
from small_programs import CASES, start
adapter = load_adapter("{adapter}")

def started(case, precision):
    trainer = start(adapter, CASES[case], precision=precision, execution={execution!r})
    return trainer, synthetic_batch(read_program(CASES[case]), 7)

def step(trainer, batch):
    trainer.feed(batch)
    trainer.step()
    trainer.wait()
    return trainer.read("parameters")

def distance(one, other):
    return max(float(abs(one[name] - other[name]).max()) for name in one)
"""

OVERFLOW = """
said = {}
for case in ("network/sgd", "network/momentum", "network/adam"):
    trainer, batch = started(case, "float16")
    first = trainer.read("parameters")
    skipped = step(trainer, {name: array * np.float32(1e6) for name, array in batch.items()})
    step(trainer, batch)
    resumed = step(trainer, batch)
    trainer, batch = started(case, "float16")
    step(trainer, batch)
    untroubled = step(trainer, batch)
    said[case] = [distance(first, skipped), distance(resumed, untroubled), distance(first, untroubled)]
print(json.dumps(said))
"""

STAGES = """
said = {}
for case in ("network/residual", "network/adversarial"):
    trainer, batch = started(case, "float32")
    program = read_program(CASES[case])
    trained = [name for update in program.updates for name in update.parameters]
    moved = {}
    for stage, function in trainer.stages():
        before = trainer.read("parameters")
        for _ in range(2):
            function()
        trainer.wait()
        after = trainer.read("parameters")
        moved[stage] = distance({n: before[n] for n in trained}, {n: after[n] for n in trained})
    said[case] = {"moved": moved, "losses": trainer.read("losses")}
print(json.dumps(said))
"""

CACHED = """
from torch._dynamo.utils import counters
said = {}
for case in ("network/residual", "local_response_norm/narrow"):
    for precision in ("float32", "bfloat16", "float16"):
        counters.clear()
        trainer, batch = started(case, precision)
        step(trainer, batch)
        said[case + " " + precision] = counters["aot_autograd"]
print(json.dumps(said))
"""


def _told(spec, script, execution=None):
    """What a script says about the framework."""
    execution = execution or spec.executions[0]
    python = candidate_for(spec, execution).interpreter.path
    paths = [str(ROOT / "src"), str(ROOT / "tests" / "worker")]
    text = PREAMBLE.format(paths=paths, adapter=spec.adapter, execution=execution) + script
    done = subprocess.run(
        [str(python), "-c", text],
        env={**os.environ, **spec.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("spec", SCALED, ids=lambda spec: spec.name)
def test_a_step_whose_gradients_overflow_is_as_if_it_had_not_been(spec):
    """Moments and step counts included: afterwards training goes on as without it."""
    for case, (skipped, difference, whole) in _told(spec, OVERFLOW).items():
        assert skipped == 0, case
        assert difference < 1e-3 * whole, case


@pytest.mark.parametrize("spec", STAGED, ids=lambda spec: spec.name)
def test_only_the_last_stage_of_a_step_moves_trained_parameters(spec):
    for case, said in _told(spec, STAGES).items():
        assert list(said["moved"]) == ["forward", "backward", "update"], case
        assert said["moved"]["forward"] == said["moved"]["backward"] == 0, case
        assert 0 < said["moved"]["update"] < inf, case
        assert all(abs(loss) < inf for loss in said["losses"].values()), case


def test_what_pytorch_compiles_for_a_step_is_kept_for_the_next_process_in_every_precision():
    """It says so itself. Else every run traces its network anew: seven seconds for resnet50."""
    for case, counted in _told(find_spec("pytorch-2"), CACHED, "compiled").items():
        assert counted.get("autograd_cache_hit", 0) + counted.get("autograd_cache_saved", 0) >= 1, (case, counted)
        assert "autograd_cache_bypass" not in counted, (case, counted)
