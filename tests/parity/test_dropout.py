"""Does dropout keep the mean? Proofs are made without it, so it is looked at on its own: over many values its mean is
that of its input, forward and backward, in every framework."""

from dataclasses import replace
from math import sqrt

import pytest

from netdyno.frameworks.spec import find_spec
from netdyno.graph.check import check_programme
from netdyno.graph.model import Programme, constant
from netdyno.graph.rewrite import without_randomness
from netdyno.protocol import events
from netdyno.workloads.references import SIZES, ProofCase
from netdyno.zoo.builder import Net
from tests.parity.conftest import candidate_for, proved_specs

RATE, SIDE, CHANNELS = 0.25, 100, 4
# The deviation of a mean of SIDE² values, each 0 or 1 / (1 − RATE), and of half its square, the gradient. Without
# rescaling they are off by 0.25 and 0.22.
DEVIATION = sqrt(RATE / (1 - RATE)) / SIDE


def programme(factor: float = 1.0) -> Programme:
    """Ones, times a scale that is learnt, through dropout, times `factor`; the mean of each channel is the output."""
    net = Net(batch=1, classes=CHANNELS, learning_rate=0.01)
    ones = net.input("ones", (1, CHANNELS, SIDE, SIDE), constant(1.0), kind="image")
    one = net.parameter("one", (CHANNELS, 1, 1, 1), constant(1.0), kind="kernel")
    x = net.node("convolution", ones, one, strides=(1, 1), padding=(0, 0, 0, 0), groups=CHANNELS)
    means = net.global_mean_pool(net.scale(net.dropout(x, RATE), factor))
    zeros = net.input("zeros", (1, CHANNELS), constant(0.0))
    net.update(net.mean_squared_error(means, zeros))
    made = net.programme(means)
    check_programme(made)
    return made


@pytest.mark.parametrize("spec", proved_specs(), ids=lambda spec: spec.name)
def test_dropout_keeps_the_mean_of_values_and_gradients(spec, prover, tmp_path):
    output, gradient = _distances(spec, prover, tmp_path / "means.npz", programme())
    assert 0 < output < 6 * DEVIATION, "0 would say that nothing was dropped"
    assert 0 < gradient < 6 * DEVIATION


def test_dropout_without_rescaling_is_seen(prover, tmp_path):
    output, gradient = _distances(find_spec("reference"), prover, tmp_path / "means.npz", programme(1 - RATE))
    assert output > 6 * DEVIATION
    assert gradient > 6 * DEVIATION


def _distances(spec, prover, arrays, random) -> tuple[float, float]:
    """How far the means and their gradients are from those without dropout."""
    case = ProofCase(name="dropout", programme=without_randomness(programme()), arrays=arrays, steps=0)
    prover.compute([case], SIZES)
    candidate = candidate_for(spec, spec.executions[0])
    event = prover.compare([replace(case, programme=random)], candidate).log.first(events.Proof)
    assert event is not None
    assert not event.unsupported
    return tuple(next(iter(event.tensors[kind].values())) for kind in ("outputs", "gradients"))
