"""Student's t as the printed tables have it."""

from math import pi, sqrt, tan

import pytest

from netdyno.results.student import quantile

TABLE = {
    (0.90, 1): 3.078, (0.975, 1): 12.706, (0.995, 1): 63.657, (0.9995, 1): 636.619,
    (0.975, 2): 4.303, (0.995, 2): 9.925, (0.9995, 2): 31.599,
    (0.975, 3): 3.182, (0.995, 3): 5.841, (0.975, 4): 2.776, (0.995, 4): 4.604,
    (0.975, 8): 2.306, (0.995, 8): 3.355, (0.995, 10): 3.169, (0.995, 18): 2.878,
    (0.975, 30): 2.042, (0.995, 30): 2.750, (0.995, 60): 2.660, (0.995, 120): 2.617,
}  # fmt: skip


@pytest.mark.parametrize(("probability", "degrees"), TABLE)
def test_quantiles_are_those_of_the_tables(probability: float, degrees: float) -> None:
    assert quantile(probability, degrees) == pytest.approx(TABLE[probability, degrees], abs=6e-4)


@pytest.mark.parametrize("p", [0.6, 0.9, 0.99, 0.995, 0.9999])
def test_quantiles_equal_their_closed_forms(p: float) -> None:
    assert quantile(p, 1) == pytest.approx(tan(pi * (p - 0.5)), rel=1e-9)
    assert quantile(p, 2) == pytest.approx((2 * p - 1) / sqrt(2 * p * (1 - p)), rel=1e-9)


def test_quantiles_near_the_normal_law_for_many_degrees() -> None:
    assert quantile(0.995, 1e7) == pytest.approx(2.5758293, abs=1e-5)


def test_quantiles_are_symmetric_and_fall_with_the_degrees() -> None:
    assert quantile(0.005, 3.7) == pytest.approx(-quantile(0.995, 3.7))
    assert quantile(0.5, 3) == pytest.approx(0, abs=1e-12)
    values = [quantile(0.995, degrees / 10) for degrees in range(10, 100)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("probability", "degrees"), [(0, 1), (1, 1), (0.5, 0), (0.5, float("nan"))])
def test_there_is_no_quantile_outside_the_law(probability: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="no Student quantile"):
        quantile(probability, degrees)
