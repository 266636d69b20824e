"""A comparison rarely cries wolf, and sees the wolf when it comes."""

from typing import Any

import numpy as np
import pytest
from tests.results.samples import draw_runs, make_cell, make_record, make_result

from netdyno.errors import NetdynoError
from netdyno.results.compare.family import Comparison
from netdyno.results.compare.pairs import compare, compare_all, nothing_in_common, overall, pair
from netdyno.results.compare.question import Question, question_of
from netdyno.results.result import Result, results_of
from netdyno.results.selectors import fields_of, select

SPEED = Question(figure="throughput", larger="faster", smaller="slower", worse="slower")
STEP_S = 0.01


def verdicts(pairs: int, *, runs: int, slower: float = 0.0, run_noise: float, block_noise: float) -> list[str]:
    """What is said of B, slower than A by that share, in so many simulated pairs."""
    random = np.random.default_rng(20261115)
    noise = {"run_noise": run_noise, "block_noise": block_noise}
    said = []
    for _ in range(pairs):
        a = make_result(draw_runs(random, runs, step_s=STEP_S, **noise))
        b = make_result(draw_runs(random, runs, step_s=STEP_S / (1 - slower), **noise))
        said.append(compare(a, b).verdict)
    return said


@pytest.mark.parametrize("runs", [3, 10])
@pytest.mark.parametrize(
    ("run_noise", "block_noise"), [(0.01, 0.02), (0.01, 0.0), (0.0, 0.02), (0.001, 0.0005), (0.0003, 0.002)]
)
def test_equal_sides_are_told_apart_in_at_most_1_of_100_cases(
    run_noise: float, block_noise: float, runs: int
) -> None:
    said = verdicts(300, runs=runs, run_noise=run_noise, block_noise=block_noise)
    assert said.count("faster") + said.count("slower") <= 3


def test_a_5_percent_slow_down_is_found_in_5_runs_of_1_percent_noise() -> None:
    said = verdicts(200, runs=5, slower=0.05, run_noise=0.01, block_noise=0.01)
    assert said.count("slower") >= 190
    assert "faster" not in said


@pytest.mark.parametrize(("run_noise", "block_noise"), [(0.0003, 0.0005), (0.001, 0.002)])
def test_a_1_percent_slow_down_is_found_in_10_quiet_runs(run_noise: float, block_noise: float) -> None:
    said = verdicts(200, runs=10, slower=0.01, run_noise=run_noise, block_noise=block_noise)
    assert said.count("slower") >= 190


def test_sides_that_differ_by_the_margin_are_seldom_called_equal() -> None:
    said = verdicts(300, runs=5, slower=0.01 / 1.01, run_noise=0.002, block_noise=0.002)
    assert said.count("equal") <= 3


def test_quiet_equal_sides_are_called_equal() -> None:
    said = verdicts(100, runs=5, run_noise=0.0005, block_noise=0.001)
    assert said.count("equal") >= 98


def test_faster_means_that_b_is_faster() -> None:
    slow, fast = make_result([[0.2, 0.201] * 5] * 3), make_result([[0.1, 0.101] * 5] * 3)
    told = compare(slow, fast)
    assert told.ratio == pytest.approx(2, rel=0.01)
    assert told.low is not None
    assert told.high is not None
    assert told.low < told.ratio < told.high
    assert told.verdict == "faster"
    assert compare(fast, slow).verdict == "slower"


def test_swapping_sides_inverts_the_interval() -> None:
    random = np.random.default_rng(1)
    a, b = (make_result(draw_runs(random, n, run_noise=0.01, block_noise=0.01)) for n in (3, 5))
    there, back = compare(a, b), compare(b, a)
    assert (there.low, there.high) == pytest.approx((1 / back.high, 1 / back.low))


def test_runs_that_agree_to_the_last_digit_do_not_make_one_sure() -> None:
    a, b = make_result([[0.1] * 10] * 3), make_result([[0.10001] * 10] * 3)
    told = compare(a, b)
    assert told.verdict == "equal"
    assert told.low is not None
    assert told.high is not None
    assert told.low < 1 < told.high


def test_batches_of_different_size_compare_by_images() -> None:
    a = make_result([[0.1, 0.1001] * 5] * 3)
    b = make_result([[0.1, 0.1001] * 5] * 3, cell=make_cell(batch=64))
    assert compare(a, b).ratio == pytest.approx(2)


def test_fewer_than_two_runs_a_side_cannot_tell() -> None:
    one, three = make_result([[0.1] * 10]), make_result([[0.2] * 10] * 3)
    told = compare(one, three)
    assert (told.low, told.high, told.verdict) == (None, None, "cannot tell")
    assert told.ratio == pytest.approx(0.5)
    assert told.reason == "one run in A"


def test_nothing_measured_has_no_ratio() -> None:
    none = results_of([make_record(outcome="failed", samples=())])[0]
    reason = "nothing measured in A and B"
    assert compare(none, none) == Comparison(ratio=None, low=None, high=None, verdict="cannot tell", reason=reason)


@pytest.fixture
def results() -> list[Result]:
    """Two frameworks × two batches × two series on one machine, one cell on another."""
    cells = [make_cell(framework=f, batch=b) for f in ("alpha-1.0", "beta-2.0") for b in (1, 32)]
    records = [make_record(cell, series=s) for cell in cells for s in (1, 2)]
    return results_of([*records, make_record(cells[0], machine="there")], every_series=True)


def test_a_selector_names_fields_series_and_machine(results: list[Result]) -> None:
    assert len(select(results, "framework=alpha-1.0,batch=1,machine=here,series=1")) == 1
    assert {result.cell.batch for result in select(results, " batch = 32 ")} == {32}
    assert {result.machine for result in select(results, "machine=there")} == {"there"}
    assert select(results, "network=vgg16") == []


def test_a_selector_without_a_series_means_the_newest_of_each_machine(results: list[Result]) -> None:
    chosen = select(results, "framework=alpha-1.0")
    assert [(r.cell.batch, r.machine, r.series) for r in chosen] == [
        (1, "here", 2), (1, "there", 1), (32, "here", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("netwrok=lenet", "no field named 'netwrok'.*Did you mean 'network'"),
        ("batch=many", "batch: expected a whole number over 0, received 'many'"),
        ("series=0", "series: expected a whole number over 0, received '0'"),
        ("device=cdua", "no device named 'cdua'.*Did you mean 'cuda'"),
        ("lenet", "expected a selector like network=lenet,batch=32, received 'lenet'"),
        ("", "expected a selector"),
        ("network=", "expected a selector"),
        ("batch=1,,series=1", "expected a selector"),
        ("batch=1,batch=2", "names batch twice"),
    ],
)
def test_a_selector_that_cannot_be_meant_is_refused(selector: str, said: str) -> None:
    with pytest.raises(NetdynoError, match=said):
        select([], selector)


def test_pairs_differ_only_where_the_selectors_say(results: list[Result]) -> None:
    a, b = "framework=alpha-1.0", "framework=beta-2.0"
    pairs = pair(select(results, a), select(results, b), fields_of(a) | fields_of(b))
    assert [(x.cell.framework, y.cell.framework, x.cell.batch, y.cell.batch) for x, y in pairs] == [
        ("alpha-1.0", "beta-2.0", 1, 1),
        ("alpha-1.0", "beta-2.0", 32, 32),
    ]


def test_a_series_pairs_with_another_of_the_same_cell(results: list[Result]) -> None:
    a, b = "series=1,machine=here", "series=2"
    pairs = pair(select(results, a), select(results, b), fields_of(a) | fields_of(b))
    assert len(pairs) == 4
    assert all(x.cell == y.cell and (x.series, y.series) == (1, 2) for x, y in pairs)


def test_machines_pair_only_when_a_selector_names_them(results: list[Result]) -> None:
    a, b = "machine=here,batch=1,framework=alpha-1.0", "machine=there"
    pairs = pair(select(results, a), select(results, b), fields_of(a) | fields_of(b))
    assert [(x.machine, y.machine) for x, y in pairs] == [("here", "there")]
    assert pair(select(results, "machine=here"), select(results, "machine=there"), ()) == []


def test_the_level_of_the_interval_is_99_5_percent() -> None:
    """Against Welch by hand: medians 100, 102, 104 and 110, 112, 114 images/s with quiet blocks."""
    a = make_result([[1 / v] * 10 for v in (100, 102, 104)], cell=make_cell(batch=1))
    b = make_result([[1 / v] * 10 for v in (110, 112, 114)], cell=make_cell(batch=1))
    told = compare(a, b)
    logs = [np.log([100, 102, 104]), np.log([110, 112, 114])]
    variances = [side.var(ddof=1) / 3 for side in logs]
    degrees = sum(variances) ** 2 / sum(v**2 / 2 for v in variances)
    assert degrees == pytest.approx(3.97, abs=0.02)
    half_width = np.log(told.high / told.low) / 2
    assert half_width == pytest.approx(5.63 * np.sqrt(sum(variances)), rel=0.01)


def test_a_sure_difference_under_the_margin_is_named_and_marked_as_small() -> None:
    told = compare(make_result([[0.1, 0.10001] * 5] * 5), make_result([[0.1003, 0.10031] * 5] * 5))
    assert (told.verdict, told.is_within_margin) == ("slower", True)


def test_the_margin_is_the_askers() -> None:
    a, b = make_result([[0.1, 0.1001] * 5] * 3), make_result([[0.1, 0.1002] * 5] * 3)
    assert compare(a, b, question_of([a, b], margin=0.02)).verdict == "equal"
    assert compare(a, b, question_of([a, b], margin=0.0)).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("figure", "changes"),
    [
        ("energy", {"readings": {"j_per_item": 2.0}}),
        ("power", {"readings": {"mean_w": 300.0}}),
        ("memory", {"device_peak_bytes": 2**30}),
    ],
)
def test_other_figures_than_speed_have_less_and_more(figure: str, changes: dict[str, Any]) -> None:
    cell = make_cell(device="cuda")
    double = {key: _doubled(value) for key, value in changes.items()}
    less, more = (make_result([[0.1] * 10] * 3, cell=cell, **given) for given in (changes, double))
    told = compare(less, more, question_of([less, more], figure))
    assert told.ratio == pytest.approx(2)
    assert told.verdict == "more"
    assert compare(more, less, question_of([less, more], figure)).verdict == "less"


def _doubled(value: Any) -> Any:
    return {name: 2 * inner for name, inner in value.items()} if isinstance(value, dict) else 2 * value


def test_a_reading_that_is_absent_says_why() -> None:
    blind = make_result([[0.1] * 10] * 3, absent={"package_j_per_item": "no counters here"})
    told = compare(blind, blind, question_of([blind], "energy"))
    assert told.reason == "no energy in A and B: no counters here"


def test_energies_of_different_parts_of_a_machine_are_not_compared() -> None:
    readings = {"j_per_item": 1.0, "package_j_per_item": 1.0}
    a, b = (make_result([[0.1] * 10] * 3, cell=make_cell(device=d), readings=readings) for d in ("cpu", "cuda"))
    told = compare(a, b, question_of([a, b], "energy"))
    assert (told.ratio, told.reason) == (None, "A reads package_j_per_item, B j_per_item")


def test_a_figure_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(NetdynoError, match=r"no figure named 'throughptu'.*Did you mean 'throughput'"):
        question_of([make_result([[0.1] * 10])], "throughptu")


def test_the_overall_ratio_is_the_geometric_mean() -> None:
    pairs = [
        tuple(make_result([[s, 1.001 * s] * 5] * 3, series=n) for n, s in ((place, 0.1), (place + 3, 0.1 / factor)))
        for place, factor in enumerate((2.0, 0.5, 4.0), 1)
    ]
    whole = overall(compare_all(pairs, SPEED), SPEED)
    assert whole is not None
    assert whole.cells == 3
    assert whole.comparison.ratio == pytest.approx(4 ** (1 / 3), rel=1e-3)


def test_the_overall_interval_holds_the_truth_also_where_results_are_in_several_pairs() -> None:
    random, missed = np.random.default_rng(7), 0
    for _ in range(200):
        a = make_result(draw_runs(random, 5, run_noise=0.01, block_noise=0.001))
        drawn = [draw_runs(random, 5, run_noise=0.01, block_noise=0.001) for _ in range(6)]
        others = [make_result(runs, series=series) for series, runs in enumerate(drawn, 2)]
        whole = overall(compare_all([(a, b) for b in others], SPEED), SPEED)
        assert whole is not None
        missed += not whole.comparison.low < 1 < whole.comparison.high
    assert missed <= 4


def test_there_is_no_overall_ratio_without_an_interval() -> None:
    one = make_result([[0.1] * 10])
    assert overall(compare_all([(one, one)], SPEED), SPEED) is None


def test_why_there_are_no_pairs_is_told_by_the_nearest_cells(results: list[Result]) -> None:
    a, b = select(results, "framework=alpha-1.0,batch=1"), select(results, "framework=beta-2.0,batch=32")
    told = str(nothing_in_common(a, b, ["framework"]))
    assert "no two cells differ only in framework: the nearest differ in batch (1, 32) too." in told


def test_a_long_table_of_few_wild_runs_has_intervals_and_no_overflow() -> None:
    wild = [(make_result([[0.1] * 9, [30.0] * 9]), make_result([[0.2] * 9, [0.2001] * 9])) for _ in range(2000)]
    found = compare_all(wild, SPEED)
    assert {one.comparison.verdict for one in found} == {"cannot tell"}
    assert all(one.comparison.low == 0.0 for one in found)
    assert all(one.comparison.high is not None and 1e300 < one.comparison.high < np.inf for one in found)
