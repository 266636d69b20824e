"""Do the windows that the JAX adapter rewrites for the CPU compute what XLA's own do, gradients included?

The small programs of the generic parity test are too small to reach every rewriting.
"""

import json
import subprocess
from pathlib import Path

import pytest

from netdyno.frameworks.spec import find_spec
from tests.parity.conftest import candidate_for

SOURCE = Path(__file__).parents[2] / "src"

# In the framework's own interpreter, which has no pytest: {case: largest relative difference}.
SCRIPT = """
import json, sys
import jax, numpy as np
from jax import lax
jax.config.update("jax_platforms", "cpu")
from netdyno_worker.adapters.jax.windows import Windows

draw = np.random.RandomState(0)
rewritten, own = [Windows(rewrite, lax.Precision.HIGHEST) for rewrite in (True, False)]

def difference(method, operands, attributes):
    results = []
    for windows in (rewritten, own):
        y, back = jax.vjp(lambda *given: getattr(windows, method)(*given, attributes), *operands)
        results.append([y] + list(back(np.cos(np.arange(y.size, dtype="f")).reshape(y.shape))))
    return max(float(abs(a - b).max() / abs(b).max()) for a, b in zip(*results))

def convolution(x, kernel, strides=(1, 1), padding=(1, 1, 1, 1)):
    operands = [draw.randn(*x).astype("f"), draw.randn(*kernel).astype("f")]
    return difference("convolution", operands, dict(strides=strides, padding=padding, groups=1))

def max_pool(x, kernel, strides, padding):
    ties = draw.randint(0, 3, x).astype("f")
    return difference("max_pool", [ties], dict(kernel=kernel, strides=strides, padding=padding))

print(json.dumps({
    "one channel": convolution((2, 9, 8, 1), (5, 3, 1, 6), (2, 1), (2, 1, 0, 1)),
    "few channels": convolution((2, 9, 8, 3), (3, 3, 3, 16), (2, 2), (0, 1, 1, 1)),
    "a kernel larger than the image": convolution((2, 2, 2, 16), (3, 3, 16, 8)),
    "a 1x1 kernel with strides": convolution((2, 5, 5, 16), (1, 1, 16, 8), (2, 2), (0, 0, 0, 0)),
    "a max pool with ties": max_pool((2, 7, 6, 4), (3, 3), (2, 2), (0, 1, 1, 0)),
    "a max pool of stride 1": max_pool((2, 5, 5, 4), (3, 3), (1, 1), (1, 1, 1, 1)),
}))
"""


@pytest.fixture(scope="module")
def differences():
    python = candidate_for(find_spec("jax"), "compiled").interpreter.path
    command = [str(python), "-c", f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{SCRIPT}"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(
    "case",
    [
        "one channel",
        "few channels",
        "a kernel larger than the image",
        "a 1x1 kernel with strides",
        "a max pool with ties",
        "a max pool of stride 1",
    ],
)
def test_a_rewritten_window_computes_what_xla_computes(differences, case):
    assert differences[case] < 2e-6


STEPS = """
import json, logging, sys
import jax
from netdyno_worker.adapters.jax import trainer as adapter
from small_programs import CASES, start

compiled = []
class Count(logging.Handler):
    def emit(self, record):
        compiled.append(record.getMessage())

jax.config.update("jax_log_compiles", True)
for name in ("jax._src.dispatch", "jax._src.interpreters.pxla"):
    logging.getLogger(name).addHandler(Count())
trainer = start(adapter, CASES["network/residual"], execution="compiled")
counts = []
for _ in range(3):
    trainer.step()
    trainer.wait()
    counts.append(len([text for text in compiled if "Compiling" in text]))
print(json.dumps(counts))
"""


def test_a_step_is_compiled_once():
    """Where a first state lies on no named device, the second step finds the results of the first on one, and all
    is compiled again."""
    python = candidate_for(find_spec("jax"), "compiled").interpreter.path
    paths = f"import sys; sys.path[:0] = [{str(SOURCE)!r}, {str(SOURCE.parent / 'tests' / 'worker')!r}]\n"
    done = subprocess.run([str(python), "-c", paths + STEPS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second, third = json.loads(done.stdout)
    assert first > 0
    assert first == second == third
