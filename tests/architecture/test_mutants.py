"""Adapters that are wrong on purpose must take the same programmes as the right ones, or bench-proof cannot run."""

import sys
from pathlib import Path

import pytest

from netdyno.frameworks.fused import fused_ops
from netdyno.frameworks.spec import find_spec

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from proof import FRAMEWORKS
from proof_runs import mutant_spec


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_adapter_that_can_be_wrong_states_the_same_kernels_as_the_right_one(framework: str) -> None:
    right = find_spec(framework)
    assert fused_ops(mutant_spec(right)) == fused_ops(right)
