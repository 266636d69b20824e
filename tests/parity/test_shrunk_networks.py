"""What random networks found in frameworks, made as small as it goes: what was mended stays right."""

from dataclasses import dataclass
from typing import Any

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
    """A network, and what each framework got wrong on it; some of it depends on the CPU's kernels."""

    images: tuple[int, int, int, int]
    layers: tuple[Layer, ...]
    mended: dict[str, str]


def _convolution(*inputs: int, **arguments: Any) -> Layer:
    """Padded so that a stride of 1 keeps the image's size, unless `pad` says otherwise."""
    arguments = {"stride": (1, 1), "pad": arguments["kernel"] // 2, **arguments}
    return Layer(op="convolution", inputs=inputs, arguments=arguments)


def _head(top: int) -> tuple[Layer, Layer]:
    return Layer(op="flatten", inputs=(top,)), Layer(op="classifier", inputs=(top + 1,))


ENDS = "oneDNN writes past its memory: SIGSEGV or 'double free or corruption'; with AVX2 the gradient is wrong"
FEW_CHANNELS = dict.fromkeys(("tensorflow-2", "pytorch-2", "keras-tensorflow", "keras-torch"), ENDS)
DIVIDES = {"mxnet-1.9": "its oneDNN concat divides by zero: ends by SIGFPE"}
CANNOT_CUT = {"mxnet-1.9": "its oneDNN concat fails: 'could not construct a sub-memory'"}

PRODUCT = {"chainer": "ideep4py multiplies arrays in blocks wrongly"}
REORDERED = {"chainer": "iDeep's gradient looks up maxima in an array whose order has changed since"}
PLAIN = {"chainer": "iDeep's gradient of the norm is wrong for arrays in plain order"}
UNREACHED = {
    "caffe2": "MKL-DNN's gradient of the depthwise weight is a fifth off where no window reaches the far padding"
}

SHRUNK = {
    "max pool of what is cropped too": Shrunk(
        images=(2, 3, 8, 8),
        layers=(
            _convolution(0, channels=16, kernel=3),
            Layer(op="max_pool", inputs=(1,), arguments={"kernel": 2, "stride": 2}),
            *_head(2),
            Layer(op="slice", inputs=(1,), arguments={"axis": 2, "start": 2, "stop": 6}),
            *_head(5),
        ),
        mended=REORDERED,
    ),
    "product of images between convolutions": Shrunk(
        images=(2, 3, 8, 8),
        layers=(
            _convolution(0, channels=16, kernel=3),
            Layer(op="multiply", inputs=(1, 1)),
            _convolution(2, channels=16, kernel=3),
            *_head(3),
        ),
        mended=PRODUCT,
    ),
    "concat of an image that is in blocks with one that is not": Shrunk(
        images=(3, 3, 8, 8),
        layers=(
            _convolution(0, channels=8, kernel=1),
            Layer(op="concat", inputs=(1, 0)),
            Layer(op="global_mean_pool", inputs=(2,)),
            Layer(op="classifier", inputs=(3,)),
        ),
        mended={"chainer": "iDeep's concat ends the process: SIGABRT by mkldnn::error"},
    ),
    "response norm behind a batch norm": Shrunk(
        images=(2, 3, 8, 8),
        layers=(
            _convolution(0, channels=16, kernel=3),
            Layer(op="batch_norm", inputs=(1,)),
            Layer(op="local_response_norm", inputs=(2,), arguments={"size": 5, "alpha": 0.1, "beta": 0.75, "k": 1.0}),
            _convolution(3, channels=16, kernel=3),
            *_head(4),
        ),
        mended=PLAIN,
    ),
    "depthwise kernel whose strides leave out the far padding": Shrunk(
        images=(2, 8, 8, 8),
        layers=(_convolution(0, channels=8, kernel=3, stride=(2, 2), groups=8), *_head(1)),
        mended=UNREACHED,
    ),
    "1×1 kernel with uneven strides over few channels": Shrunk(
        images=(3, 4, 15, 12),
        layers=(_convolution(0, channels=12, kernel=1, stride=(1, 2)), *_head(1)),
        mended=FEW_CHANNELS,
    ),
    "1×1 kernel with even strides over few channels": Shrunk(
        images=(3, 12, 12, 12),
        layers=(_convolution(0, channels=12, kernel=1, stride=(2, 2)), *_head(1)),
        mended=FEW_CHANNELS,
    ),
    "1×1 kernel with strides over few padded channels": Shrunk(
        images=(3, 4, 14, 12),
        layers=(_convolution(0, channels=12, kernel=1, stride=(2, 2), pad=(0, 2, 0, 2)), *_head(1)),
        mended=FEW_CHANNELS,
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
        mended=DIVIDES,
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
        mended=DIVIDES,
    ),
    "concat whose parts end inside a block": Shrunk(
        images=(4, 3, 8, 9),
        layers=(
            _convolution(0, channels=20, kernel=3),
            Layer(op="concat", inputs=(1, 1)),
            _convolution(2, channels=16, kernel=3),
            *_head(3),
        ),
        mended=CANNOT_CUT,
    ),
    "dense layers of twelve maps": Shrunk(
        images=(2, 3, 8, 8),
        layers=(
            _convolution(0, channels=16, kernel=3),
            _convolution(1, channels=12, kernel=3),
            Layer(op="concat", inputs=(1, 2)),
            _convolution(3, channels=12, kernel=3),
            Layer(op="concat", inputs=(3, 4)),
            _convolution(5, channels=8, kernel=1),
            *_head(6),
        ),
        mended=CANNOT_CUT,
    ),
}
PROVED = [
    (name, framework, precision)
    for name, shrunk in SHRUNK.items()
    for framework in shrunk.mended
    for precision in ("float32", "float64")
    if precision in find_spec(framework).precisions
]


@pytest.mark.parametrize(("name", "framework", "precision"), PROVED)
def test_a_network_that_a_framework_got_wrong_is_right_now(prover, name, framework, precision):
    shrunk, spec = SHRUNK[name], find_spec(framework)
    programme = programme_of(Drawn(images=shrunk.images, optimizer=SGD, layers=shrunk.layers))
    case = prover.references.case(f"shrunk/{name}", without_randomness(programme))
    prover.compute([case], SIZES)
    (proof,) = prover.prove([case], candidate_for(spec, spec.executions[0], precision))
    assert proof.passed, proof.reason or proof.difference()
