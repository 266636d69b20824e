"""The sentence at the end of a run names a difference only where the runs show one."""

from tests.report.pages import runs_of
from tests.results.samples import make_record

from netdyno.report.terminal.conclusion import conclusion
from netdyno.results.result import results_of


def said(*groups):
    return conclusion(results_of([record for group in groups for record in group]))


def noisy(step_s, **changes):
    """Three runs that differ by about a fifth."""
    speeds = (0.9, 1.0, 1.1)
    return [
        record for n, s in enumerate(speeds, 1) for record in _numbered(runs_of(step_s * s, runs=1, **changes), n)
    ]


def _numbered(records, number):
    fields = {name: getattr(records[0], name) for name in ("cell", "samples", "environment", "machine", "series")}
    return [make_record(number=number, id=f"{records[0].cell.key()} {number}", **fields)]


def test_a_clear_difference_is_named_with_its_interval():
    sentence = said(runs_of(0.010, execution="compiled"), runs_of(0.0147, execution="eager"))
    assert sentence.startswith("Compiled is 1.47 × faster than eager on lenet/mnist (1.4")
    assert sentence.endswith(").")


def test_noise_is_given_in_percent_and_leads_to_doctor():
    sentence = said(noisy(0.010, execution="compiled"), noisy(0.05, execution="eager"))
    assert "× faster than eager" in sentence
    assert sentence.endswith("; on this machine the noise is 20 %, see netdyno doctor.")


def test_what_noise_could_explain_is_not_called_faster():
    sentence = said(noisy(0.010, execution="compiled"), noisy(0.0105, execution="eager"))
    assert sentence.startswith("Cannot tell compiled from eager on lenet/mnist (")
    assert "faster" not in sentence


def test_an_interval_that_says_nothing_is_left_out():
    fast, slow = noisy(0.001, execution="compiled")[:2], runs_of(0.05, runs=2, execution="eager")
    assert said([fast[0], _numbered(runs_of(0.01, runs=1, execution="compiled"), 2)[0]], slow).startswith(
        "Cannot tell compiled from eager on lenet/mnist;"
    )


def test_an_instrument_wins_nothing():
    sentence = said(runs_of(1e-6, framework="null"), runs_of(0.01, framework="f1"), runs_of(0.02, framework="f2"))
    assert sentence.startswith("f1 is 2 × faster than f2 on lenet/mnist (")


def test_equal_results_are_called_equal():
    assert said(runs_of(0.01, execution="compiled"), runs_of(0.01, seed=2, execution="eager")).endswith(
        "are equal within 1 % on lenet/mnist."
    )


def test_one_run_a_side_cannot_tell_and_says_what_is_needed():
    sentence = said(runs_of(0.010, runs=1, execution="compiled"), runs_of(0.02, runs=1, execution="eager"))
    assert sentence.startswith("Cannot tell compiled from eager on lenet/mnist (")
    assert sentence.endswith("; one run cannot show the noise.")


def test_every_network_is_named_so_that_none_is_picked_out():
    pairs = [
        runs_of(step_s, network=network, execution=execution)
        for network, steps in {"lenet": (0.01, 0.02), "alexnet": (0.01, 0.013)}.items()
        for step_s, execution in zip(steps, ("compiled", "eager"), strict=True)
    ]
    sentence = said(*pairs, noisy(0.01, network="vgg", execution="eager"), noisy(0.01, network="vgg"))
    assert sentence.startswith("Compiled is 2 × faster than eager on lenet/mnist (")
    assert "; 1.3 × on alexnet/mnist (" in sentence


def test_more_than_two_frameworks_are_ranked_by_the_best_and_the_next():
    sentence = said(*(runs_of(0.01 * n, framework=f"f{n}") for n in (1, 2, 3)))
    assert sentence.startswith("f1 is 2 × faster than f2 on lenet/mnist (")


def test_a_single_result_is_its_own_sentence():
    assert said(runs_of(0.01, framework="alpha")).startswith("Training speed of lenet/mnist in alpha at batch 32: 3,")


def test_a_users_network_has_its_short_name():
    own = {"network": "/home/user/nets/mine.py:mine"}
    assert " on mine/mnist (" in said(runs_of(0.01, execution="compiled", **own), runs_of(0.02, **own))


def test_nothing_measured_gives_no_sentence():
    assert conclusion([]) == ""
    assert said(runs_of(0.01, batch=32), runs_of(0.01, batch=64)) == ""
