"""`netdyno compare` and `netdyno history` as a user and a CI call them."""

import numpy as np
import pytest
from tests.results.samples import draw_runs, make_cell, make_record, make_samples

from netdyno.results.store import open_store


def fill(path, speeds, *, runs=5, first=1, **cell):
    """A store with a series for each speed of a cell."""
    random = np.random.default_rng(9)
    with open_store(str(path)) as store:
        for series, speed in enumerate(speeds, first):
            drawn = draw_runs(random, runs, step_s=32 / speed, run_noise=0.0005, block_noise=0.001)
            for number, run in enumerate(drawn, 1):
                store.add(
                    make_record(
                        make_cell(**cell),
                        id=f"{cell}-{series}-{number}",
                        series=series,
                        number=number,
                        started_at=f"2026-11-{series:02d}T10:00:00+00:00",
                        samples=make_samples(run),
                        worker_hash="old" if speed > 95 else "new",
                    )
                )
    return str(path)


@pytest.fixture
def store(tmp_path):
    fill(tmp_path / "s.sqlite", [100], framework="alpha-1.0")
    return fill(tmp_path / "s.sqlite", [97.5], framework="beta-2.0")


SIDES = ("framework=alpha-1.0", "framework=beta-2.0")


def test_a_slower_side_is_exit_1_and_a_faster_one_0(netdyno, store):
    slower = netdyno("--store", store, "compare", *SIDES)
    assert slower.returncode == 1, slower.stderr
    assert "1 slower" in slower.stdout
    faster = netdyno("--store", store, "compare", *reversed(SIDES))
    assert faster.returncode == 0
    assert "1 faster" in faster.stdout


def test_fail_on_slower_allows_what_it_says(netdyno, store):
    assert netdyno("--store", store, "compare", *SIDES, "--fail-on-slower", "3%").returncode == 0
    assert netdyno("--store", store, "compare", *SIDES, "--fail-on-slower", "2 %").returncode == 1


def test_json_has_its_fields(netdyno, store):
    told = netdyno.json("--store", store, "compare", *SIDES)
    assert list(told) == ["figure", "unit", "margin", "comparisons", "overall"]
    (one,) = told["comparisons"]
    assert list(one) == [
        "a", "b", "ratio", "low", "high", "verdict", "reason", "confidence", "p", "is_within_margin",
    ]  # fmt: skip
    assert one["low"] < 0.975 < one["high"]
    assert one["confidence"] == pytest.approx(0.995)
    assert len(one["a"]["runs"]) == 5
    assert told["overall"]["ratio"] == pytest.approx(one["ratio"])


def test_two_stores_are_compared_as_markdown(netdyno, tmp_path):
    before, after = fill(tmp_path / "before.sqlite", [100]), fill(tmp_path / "after.sqlite", [90], first=2)
    done = netdyno("compare", before, after, "--format", "markdown")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("**netdyno compare** B against A in 1 comparison of images/s: 1 slower.")
    assert "worker&#95;hash: old → new" in done.stdout


def test_one_run_a_side_cannot_tell(netdyno, tmp_path):
    store = fill(tmp_path / "s.sqlite", [100, 50], runs=1)
    done = netdyno("--store", store, "compare", "series=1", "series=2", "--fail-on-slower", "3%")
    assert done.returncode == 0
    assert "cannot tell: one run" in done.stdout
    assert "1 of 1 cannot be judged: one run in A and B." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["network=lenet", "netwrok=lenet"], "no field named 'netwrok'"),
        (["network=lenet", "pyproject.toml"], "is not a database"),
        ([*SIDES, "--figure", "sped"], "no figure named 'sped'"),
        ([*SIDES, "--format", "html"], "no format named 'html'"),
        ([*SIDES, "--fail-on-slower", "3"], "--fail-on-slower: expected a percentage"),
        ([*SIDES, "--margin", "-1%"], "--margin: expected a percentage"),
        ([*SIDES, "--figure", "step", "--fail-on-slower", "3%"], "expected a figure that is a rate"),
        (["network=lenet"], "Missing argument"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(netdyno, store, arguments, said):
    done = netdyno("--store", store, "compare", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert (done.stderr.count("\n"), done.stdout) == (1, "")


def test_a_history_shows_the_step_and_what_changed(netdyno, tmp_path):
    store = fill(tmp_path / "s.sqlite", [100, 100.1, 99.9, 100, 90, 90.1, 89.9])
    shown = netdyno("--store", store, "history", "network=lenet")
    assert shown.returncode == 0, shown.stderr
    assert "worker_hash old → new" in shown.stdout
    (told,) = netdyno.json("--store", store, "history", "network=lenet")
    assert [entry["series"] for entry in told["series"]] == [1, 2, 3, 4, 5, 6, 7]
    (step,) = told["steps"]
    assert step["series"] == 5
    assert step["low"] < 0.9 < step["high"]
    assert step["changes"] == [{"field": "worker_hash", "before": "old", "after": "new"}]


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("netwrok=lenet", "no field named"),
        ("network=vgg", "no network named 'vgg'"),
        ("lenet", "expected a selector"),
    ],
)
def test_a_history_of_nothing_is_exit_2(netdyno, store, selector, said):
    done = netdyno("--store", store, "history", selector)
    assert (done.returncode, done.stderr.count("\n"), said in done.stderr) == (2, 1, True)
