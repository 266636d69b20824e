"""A few cases of each generator: one line or a result, never a traceback, and the same cases for the same seed."""

import pytest

from netdyno.cli.main import COMMANDS
from tests.hostile import arguments, stores, suites


@pytest.mark.parametrize(
    "generator", [arguments, stores, suites], ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_whatever_comes_is_answered(generator, tmp_path):
    tally = generator.run(seed=17, count=60, folder=tmp_path)
    assert tally.faults == []
    assert tally.codes[0] >= 4
    assert tally.codes[2] >= 10


@pytest.mark.parametrize("generator", [arguments, suites], ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_seed_names_its_cases(generator):
    assert list(generator.cases(3, 20)) == list(generator.cases(3, 20))
    assert list(generator.cases(3, 20)) != list(generator.cases(4, 20))


def test_every_command_is_called():
    assert {case.arguments[0] for case in arguments.cases(0, 2000)} >= set(COMMANDS)
