"""A table of many comparisons is wrong as rarely as a single one, and its intervals agree with its words."""

import numpy as np
import pytest

from netdyno.results.compare.evidence import Evidence
from netdyno.results.compare.family import CONFIDENCE, _holm, beyond, judge
from netdyno.results.compare.question import Question
from netdyno.results.student import quantile, upper_tail

ONE_SIDED = (1 - CONFIDENCE) / 2


def speed(margin: float = 0.01) -> Question:
    return Question(figure="throughput", larger="faster", smaller="slower", worse="slower", margin=margin)


def evidence(log_ratio: float, error: float = 0.001, degrees: float = 8.0) -> Evidence:
    return Evidence(log_ratio=log_ratio, error=error, degrees=degrees)


def test_holm_adjusts_as_by_hand() -> None:
    """0.01 × 4, then 0.02 × 3, then the larger of 0.03 × 2 and the one before, then likewise."""
    judged = _holm([0.03, 0.01, 0.04, 0.02])
    assert [one.p for one in judged] == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_never_says_more_than_1() -> None:
    assert [one.p for one in _holm([0.7, 0.9])] == [1.0, 1.0]


def test_what_is_different_alone_may_not_be_among_many() -> None:
    edge = evidence(quantile(1 - ONE_SIDED, 8.0) * 0.001 * 1.05)
    noise = [evidence(0.0)] * 19
    assert judge([edge], speed(0.0))[0].verdict == "faster"
    assert judge([edge, *noise], speed(0.0))[0].verdict == "cannot tell"


def test_a_table_of_20_equal_cells_is_seldom_wrong() -> None:
    random, wrong, alone = np.random.default_rng(3), 0, 0
    for _ in range(300):
        table = [evidence(0.001 * t) for t in random.standard_t(8, 20)]
        wrong += any(one.verdict in ("faster", "slower") for one in judge(table, speed()))
        alone += sum(judge([one], speed())[0].verdict in ("faster", "slower") for one in table[:5])
    assert wrong <= 3
    assert alone >= 3  # the same cells one by one do cry wolf now and then, so the table could have


def test_an_interval_excludes_1_exactly_where_the_verdict_says_so() -> None:
    random = np.random.default_rng(4)
    for _ in range(100):
        table = [evidence(0.001 * shift) for shift in random.normal(0, 6, 8)]
        for one in judge(table, speed(0.0)):
            assert one.low is not None
            assert one.high is not None
            assert (one.low > 1, one.high < 1) == (one.verdict == "faster", one.verdict == "slower")


def test_an_interval_lies_within_the_margins_where_the_verdict_is_equal() -> None:
    random = np.random.default_rng(5)
    seen = 0
    for _ in range(200):
        for one in judge([evidence(0.001 * shift) for shift in random.normal(0, 2, 4)], speed(0.006)):
            assert one.low is not None
            assert one.high is not None
            if one.verdict == "equal":
                assert 1 / 1.006 < one.low < one.high < 1.006
                seen += 1
            elif one.verdict == "cannot tell":
                assert one.low < 1 / 1.006 or one.high > 1.006
    assert seen > 100


def test_cells_without_an_interval_do_not_count_as_comparisons() -> None:
    unknown = Evidence(log_ratio=None, problem="one run in B")
    alone, among = judge([evidence(0.006)], speed())[0], judge([unknown, evidence(0.006), unknown], speed())
    assert among[1] == alone
    assert (among[0].verdict, among[0].reason, among[0].p) == ("cannot tell", "one run in B", None)


def test_beyond_a_share_means_surely_beyond() -> None:
    table = [evidence(np.log(0.90)), evidence(np.log(0.968)), evidence(np.log(0.975)), evidence(0.05)]
    assert beyond(table, 0.03) == [True, False, False, False]
    assert beyond(table, 0.0) == [True, True, True, False]


def test_a_slow_down_by_exactly_the_share_allowed_is_seldom_called_more() -> None:
    random = np.random.default_rng(6)
    tables = [[evidence(np.log(0.97) + 0.001 * t) for t in random.standard_t(8, 10)] for _ in range(1000)]
    assert sum(any(beyond(table, 0.03)) for table in tables) <= 10


def test_beyond_leaves_out_what_cannot_be_judged() -> None:
    assert beyond([Evidence(log_ratio=-1.0, problem="one run in A"), evidence(-1.0)], 0.03) == [False, True]
    assert beyond([], 0.03) == []


def test_tails_and_quantiles_of_student_agree() -> None:
    for degrees in (1.0, 2.5, 30.0):
        assert upper_tail(quantile(0.99, degrees), degrees) == pytest.approx(0.01)
        assert upper_tail(-quantile(0.99, degrees), degrees) == pytest.approx(0.99)
    assert upper_tail(1.0, 1.0) == pytest.approx(0.25)  # Cauchy
