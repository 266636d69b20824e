"""What random networks found in frameworks, made as small as it goes: what was mended stays right, and what still
ends a process is said, never taken for equal."""

from dataclasses import dataclass, field

import pytest

from netdyno.frameworks.spec import find_spec
from netdyno.graph.model import Optimizer
from netdyno.graph.rewrite import without_randomness
from netdyno.workloads.references import SIZES
from tests.parity.conftest import candidate_for
from tests.parity.random_networks import Drawn, Layer, programme_of

SGD = Optimizer(kind="sgd", learning_rate=0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A network, and what is known of frameworks on it: bugs that end the process, depending on the CPU's kernels."""

    images: tuple[int, int, int, int]
    layers: tuple[Layer, ...]
    bugs: dict[str, str] = field(default_factory=dict)
    mended: dict[str, str] = field(default_factory=dict)


def _convolution(*inputs: int, channels: int, kernel: int, stride: tuple[int, int] = (1, 1)) -> Layer:
    window = {"kernel": kernel, "stride": stride, "pad": kernel // 2}
    return Layer(op="convolution", inputs=inputs, arguments={"channels": channels, **window})


def _head(top: int) -> tuple[Layer, Layer]:
    return Layer(op="flatten", inputs=(top,)), Layer(op="classifier", inputs=(top + 1,))


SHRUNK = {
    "1×1 kernel with uneven strides": Shrunk(
        images=(3, 4, 15, 12),
        layers=(_convolution(0, channels=12, kernel=1, stride=(1, 2)), *_head(1)),
        bugs={
            "tensorflow-2": "oneDNN writes past the end of the weight's gradient: 'double free or corruption'",
            "pytorch-2": "oneDNN writes past the end of the weight's gradient in channels_last: ends by SIGSEGV",
        },
    ),
    "local response norm between convolutions": Shrunk(
        images=(4, 2, 15, 8),
        layers=(
            _convolution(0, channels=8, kernel=3),
            Layer(op="local_response_norm", inputs=(1,), arguments={"size": 5, "alpha": 0.1, "beta": 0.75, "k": 1.0}),
            _convolution(2, channels=8, kernel=3),
            *_head(3),
        ),
        mended={"mxnet-1.9": "the gradient of its own LRN is off by 0.7; the adapter composes it"},
    ),
    "concat of one value three times": Shrunk(
        images=(4, 4, 14, 9),
        layers=(
            _convolution(0, channels=4, kernel=1),
            Layer(op="concat", inputs=(0, 0, 0, 1)),
            _convolution(2, channels=8, kernel=1),
            *_head(3),
        ),
        bugs={"mxnet-1.9": "its oneDNN concat divides by zero: ends by SIGFPE"},
    ),
    "concat that is added to a convolution of it": Shrunk(
        images=(2, 2, 16, 9),
        layers=(
            _convolution(0, channels=6, kernel=3),
            _convolution(1, channels=2, kernel=3),
            Layer(op="concat", inputs=(2, 1)),
            _convolution(3, channels=8, kernel=1),
            Layer(op="add", inputs=(3, 4)),
            *_head(5),
        ),
        bugs={"mxnet-1.9": "its oneDNN concat divides by zero: ends by SIGFPE"},
    ),
}
PROVED = [(name, framework) for name, shrunk in SHRUNK.items() for framework in (*shrunk.bugs, *shrunk.mended)]


@pytest.mark.parametrize(("name", "framework"), PROVED)
def test_a_network_that_a_framework_got_wrong_is_right_now_or_says_that_it_fails(prover, name, framework):
    shrunk, spec = SHRUNK[name], find_spec(framework)
    programme = programme_of(Drawn(images=shrunk.images, optimizer=SGD, layers=shrunk.layers))
    case = prover.references.case(f"shrunk/{name}", without_randomness(programme))
    prover.compute([case], SIZES)
    (proof,) = prover.prove([case], candidate_for(spec, spec.executions[0]))
    ended = proof.reason.startswith("crashed") and framework in shrunk.bugs
    assert proof.passed or ended, proof.reason or proof.difference()
