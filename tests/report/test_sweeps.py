"""Whether the survey's rules of the number of nodes held: by intervals over seeds, never by means."""

import pytest
from tests.report.trained import trained

from netdyno.report.sweeps import FAILED, HELD, sweeps
from netdyno.results.result import results_of


def _sweep(*runs):
    (found,) = sweeps(results_of(runs))
    return found


def _ffn(*errors_by_hidden):
    return _sweep(
        *(run for hidden, errors in errors_by_hidden for run in trained("ffn", errors, options={"hidden": hidden}))
    )


def test_a_rule_holds_where_the_intervals_are_apart():
    found = _ffn((196, [0.030, 0.031, 0.032]), (784, [0.020, 0.021, 0.0205]), (3136, [0.030, 0.029, 0.031]))
    assert found.verdict() == HELD
    assert found.sentence() == (
        "The survey: at least as many hidden nodes as inputs, here 784. The best of 2 that follow it, 784 hidden "
        "nodes: error 2.05 % (1.93 to 2.18); 196 hidden nodes: error 3.10 % (2.86 to 3.36): it held."
    )


def test_a_rule_does_not_hold_where_the_others_are_better():
    assert _ffn((196, [0.02, 0.0201, 0.0202]), (784, [0.03, 0.0301, 0.0302])).verdict() == FAILED


def test_means_alone_decide_nothing():
    assert _ffn((196, [0.03, 0.02, 0.04]), (784, [0.02, 0.03, 0.01])).verdict().endswith("(their intervals overlap)")
    assert _ffn((196, [0.03]), (784, [0.02])).verdict().endswith("(one seed has no interval)")


def test_a_rule_that_every_training_follows_cannot_be_judged():
    assert "nothing that breaks it" in _ffn((784, [0.03, 0.031]), (1568, [0.02, 0.021])).verdict()


def test_the_usual_value_of_an_option_takes_part():
    runs = [*trained("dcn", [0.02, 0.021, 0.022]), *trained("dcn", [0.03, 0.031, 0.03], options={"form": "growing"})]
    found = _sweep(*runs)
    assert {each.value: each.follows for each in found.trained} == {"growing": False, "shrinking": True}
    assert found.verdict() == HELD


@pytest.mark.parametrize("changes", [{"framework": "beta"}, {"goal": "steps=9"}, {"batch": 7}, {"threads": 3}])
def test_trainings_with_other_settings_are_not_compared(changes):
    runs = [*trained("ffn", [0.02]), *trained("ffn", [0.03], options={"hidden": 9}, **changes)]
    assert sweeps(results_of(runs)) == []


@pytest.mark.parametrize("changes", [{"dataset": "of-another-zoo"}, {"options": {"hidden": "many"}}])
def test_what_this_zoo_does_not_know_is_left_out(changes):
    runs = [*trained("ffn", [0.02], **changes), *trained("ffn", [0.03], **{**changes, "batch": 64})]
    assert sweeps(results_of(runs)) == []


def test_networks_without_a_rule_are_left_out():
    runs = [run for hidden in (8, 9) for run in trained("rbm", [0.02, 0.03], options={"hidden": hidden})]
    assert sweeps(results_of(runs)) == []
