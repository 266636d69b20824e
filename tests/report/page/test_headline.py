"""The headline names a winner only among equals, only beyond noise, and never a weak one without saying so."""

import numpy as np
import pytest
from tests.results.samples import draw_runs, make_cell, make_record, make_samples

from netdyno.report.page.contests import contests_of
from netdyno.report.page.headline import answers, complaints, times
from netdyno.results.proof import Proof, Proved
from netdyno.results.result import results_of

FAST, SLOW = 0.010, 0.013  # seconds a step


def result(framework, step_s, *, runs=3, seed=1, cell=None, **changes):
    """Runs of a framework at about that many seconds a step, with the noise of a good machine."""
    random = np.random.default_rng([seed, *framework.encode()])
    drawn = draw_runs(random, runs, step_s=step_s, run_noise=0.001, block_noise=0.002)
    records = [
        make_record(
            cell or make_cell(framework=framework),
            number=number,
            samples=make_samples(run),
            id=f"{framework}{number}",
            **changes,
        )
        for number, run in enumerate(drawn, 1)
    ]
    return results_of(records)[0]


def told(*results, proofs=()):
    """What is said of the only place, by question."""
    contests = contests_of(results)
    (place,) = contests.places()
    return {answer.question: answer for answer in answers(contests, place, Proved(proofs))}


def proof(framework):
    cell = make_cell(framework=framework)
    fields = {
        name: getattr(cell, name) for name in ("framework", "network", "dataset", "device", "precision", "execution")
    }
    return Proof(**fields, machine="here", passed=True, graph_identity="graph", resolution={})


def test_the_faster_of_two_is_named_with_its_margin_and_its_interval():
    answer = told(result("alpha", FAST), result("beta", SLOW), proofs=[proof("alpha")])["Fastest"]
    assert answer.lead.startswith("alpha")
    assert "1.30 times as fast as the next" in answer.words or "1.31 times as fast as the next" in answer.words
    assert "allowing for noise" in answer.words
    assert "interval" not in answer.words
    assert answer.caveat == ""


def test_two_that_noise_could_explain_cannot_be_told_apart():
    answer = told(result("alpha", FAST), result("beta", FAST, seed=2))["Fastest"]
    assert answer.lead == "Equal within 1 %"
    assert "alpha (eager)" in answer.words
    assert "beta (eager)" in answer.words


def test_one_run_is_not_enough_to_win():
    answer = told(result("alpha", FAST, runs=1), result("beta", SLOW))["Fastest"]
    assert answer.lead == "Cannot tell"
    assert "alpha has one" in answer.words


@pytest.mark.parametrize(
    "other",
    [
        {"network": "alexnet"}, {"dataset": "cifar10"}, {"batch": 64}, {"precision": "bfloat16"}, {"threads": 4},
        {"data": "packed"}, {"options": {"hidden": 512}}, {"ranks": 2}, {"nodes": 2}, {"strategy": "ring"},
        {"synchrony": "stale"}, {"workload": "serve"},
    ],
    ids=lambda other: next(iter(other)),
)  # fmt: skip
def test_unequal_cells_are_never_compared(other):
    rival = result("beta", SLOW, cell=make_cell(framework="beta", **other))
    found = told(result("alpha", FAST), rival)
    assert list(found) == (["Fastest (serve)", "Fastest (train)"] if "workload" in other else ["Fastest"])
    for answer in found.values():
        assert answer.lead == "Nothing to compare"
        assert answer.rankings == ()


def test_speeds_in_different_units_are_different_questions():
    of_samples = [result(name, FAST, cell=make_cell(framework=name, dataset="none")) for name in ("alpha", "beta")]
    answers = told(result("alpha", FAST), result("beta", SLOW), *of_samples)
    assert answers["Fastest (images/s)"].lead == "alpha (eager)"
    assert answers["Fastest (samples/s)"].lead == "Cannot tell"


def test_other_machines_are_other_places():
    contests = contests_of([result("alpha", FAST), result("beta", SLOW, machine="there")])
    assert contests.places() == [("here", "cpu"), ("there", "cpu")]
    assert all(answers(contests, place, ())[0].lead == "Nothing to compare" for place in contests.places())


def test_each_framework_takes_part_with_its_best_execution():
    slow = result("alpha", SLOW, cell=make_cell(framework="alpha", execution="eager"))
    fast = result("alpha", FAST, cell=make_cell(framework="alpha", execution="compiled"))
    answer = told(slow, fast, result("beta", 0.011))["Fastest"]
    assert answer.lead == "alpha (compiled)"


def test_a_weak_winner_is_named_with_what_is_weak():
    weak = result("alpha", FAST, flags=("foreign load",))
    answer = told(weak, result("beta", SLOW), proofs=[proof("alpha")])["Fastest"]
    assert answer.lead.startswith("alpha")
    assert answer.caveat == "The winner is weak: foreign load."


def test_a_winner_that_was_not_verified_is_named_as_such():
    assert told(result("alpha", FAST), result("beta", SLOW))["Fastest"].caveat == "The winner is not verified."


def test_a_proof_on_another_machine_does_not_count():
    elsewhere = Proof(
        **{
            name: getattr(proof("alpha"), name)
            for name in ("framework", "network", "dataset", "device", "precision", "execution")
        },
        machine="there",
        passed=True,
        graph_identity="graph",
        resolution={},
    )
    answer = told(result("alpha", FAST), result("beta", SLOW), proofs=[elsewhere])["Fastest"]
    assert answer.caveat == "The winner is not verified."


def test_a_worker_that_computes_nothing_wins_nothing():
    answer = told(result("null", 1e-6, cell=make_cell(framework="null")), result("beta", SLOW))["Fastest"]
    assert answer.lead == "Nothing to compare"
    assert "null" not in answer.words.lower()


def test_less_memory_is_leaner():
    lean = result("alpha", SLOW, host_peak_bytes=100 * 2**20)
    fat = result("beta", FAST, host_peak_bytes=250 * 2**20)
    answer = told(lean, fat)["Least memory"]
    assert answer.lead.startswith("alpha")
    assert "the next needs 2.50 times its memory" in answer.words


def test_less_energy_is_more_frugal_and_the_verdict_needs_two_runs():
    gpu = {name: make_cell(framework=name, device="cuda") for name in ("alpha", "beta")}
    frugal = result("alpha", SLOW, cell=gpu["alpha"], readings={"j_per_item": 0.1})
    other = result("beta", FAST, cell=gpu["beta"], readings={"j_per_item": 0.2})
    assert told(frugal, other)["Least energy"].lead.startswith("alpha")
    once = result("alpha", SLOW, cell=gpu["alpha"], readings={"j_per_item": 0.1}, runs=1)
    assert told(once, other)["Least energy"].lead == "Cannot tell"


def test_what_was_not_read_is_not_spoken_of():
    assert set(told(result("alpha", FAST), result("beta", SLOW))) == {"Fastest"}


def test_several_comparisons_are_counted_by_winner():
    results = []
    for batch, (alpha, beta) in {16: (FAST, SLOW), 32: (FAST, SLOW), 64: (SLOW, FAST), 128: (FAST, FAST)}.items():
        results.append(result("alpha", alpha, cell=make_cell(framework="alpha", batch=batch)))
        results.append(result("beta", beta, cell=make_cell(framework="beta", batch=batch), seed=3))
    answer = told(*results)["Fastest"]
    assert answer.lead == "It depends"
    assert "alpha in 2 of 4 comparisons" in answer.words
    assert "beta in 1" in answer.words
    assert "cannot tell in 1 (noise could explain the difference)" in answer.words
    assert len(answer.rankings) == 4


def test_who_wins_most_comparisons_is_named():
    results = []
    for batch, (alpha, beta) in {16: (FAST, SLOW), 32: (FAST, SLOW), 64: (SLOW, FAST)}.items():
        results.append(result("alpha", alpha, cell=make_cell(framework="alpha", batch=batch)))
        results.append(result("beta", beta, cell=make_cell(framework="beta", batch=batch)))
    answer = told(*results)["Fastest"]
    assert answer.lead == "alpha"
    assert answer.words.startswith("in 2 of 3 comparisons")


def test_a_verdict_is_taken_apart_at_the_commas_outside_its_brackets():
    verdict = "drifting (1 of 3), slowed by feeding (without, it would make 3,448 images/s), one run"
    assert complaints(verdict) == [
        "drifting (1 of 3)",
        "slowed by feeding (without, it would make 3,448 images/s)",
        "one run",
    ]


@pytest.mark.parametrize(("ratio", "words"), [(1.0042, "1.004"), (1.32, "1.32"), (13.21, "13.2"), (1321.4, "1,321")])
def test_a_ratio_has_the_digits_that_a_reader_needs(ratio, words):
    assert times(ratio) == words
