"""Courses over several seeds: what they come to, that a store keeps them, and what a price makes of seconds."""

import pytest
from tests.results.samples import make_record

from netdyno.results.course import SHORT, TRAINED, Course, Evaluation, Spread, course_results, to_json
from netdyno.results.store import open_store


def _evaluation(step, accuracy):
    return Evaluation(step=step, train_s=step / 100, wall_s=step / 50, accuracy=accuracy, loss=1 - accuracy)


def _course(seed, accuracy=0.98, **changes):
    fields = {
        "id": f"course-{seed}",
        "cell": make_record().cell,
        "machine": "m",
        "goal": "epochs=1",
        "source": "mnist",
        "seed": seed,
        "outcome": TRAINED,
        "started_at": f"2026-01-01T00:00:0{seed}.000+00:00",
        "ended_at": f"2026-01-01T00:01:0{seed}.000+00:00",
        "curve": (_evaluation(100, accuracy / 2), _evaluation(200, accuracy)),
        "steps": 200,
        "train_s": 2.0 * seed,
        "wall_s": 4.0 * seed,
        "readings": {"energy_j": 10.0 * seed},
    }
    return Course(**{**fields, **changes})


def test_figures_are_means_over_seeds_with_their_range():
    (result,) = course_results([_course(1, 0.98), _course(2, 0.96), _course(3, 0.97)])
    assert result.spread("accuracy") == Spread(mean=pytest.approx(0.97), low=0.96, high=0.98)
    assert result.spread("train_s") == Spread(mean=4.0, low=2.0, high=6.0)
    assert result.spread("energy_j") == Spread(mean=20.0, low=10.0, high=30.0)
    assert result.cost(price_per_hour=3600.0) == Spread(mean=8.0, low=4.0, high=12.0)


def test_a_seed_that_failed_counts_neither_as_reached_nor_in_a_mean():
    failed = _course(2, outcome="failed", reason="it broke", curve=(), train_s=None, wall_s=None, readings={})
    short = _course(3, 0.5, outcome=SHORT)
    (result,) = course_results([_course(1, 0.9), failed, short])
    assert result.reached == 1
    assert result.spread("accuracy") == Spread(mean=pytest.approx(0.7), low=0.5, high=0.9)
    assert [told["outcome"] for told in to_json(result)["courses"]] == [TRAINED, "failed", SHORT]


def test_nothing_is_said_of_what_nobody_finished():
    (result,) = course_results([_course(1, outcome="crashed", curve=(), train_s=None, wall_s=None)])
    assert result.spread("accuracy") is None
    assert result.cost(1.0) is None
    assert to_json(result, 1.0)["cost"] is None


def test_a_newer_course_of_a_seed_takes_the_place_of_an_older_one():
    newer = _course(1, 0.99, id="again", started_at="2026-02-01T00:00:00.000+00:00")
    (result,) = course_results([newer, _course(1, 0.9)])
    assert [course.id for course in result.courses] == ["again"]


def test_goals_sources_and_machines_are_kept_apart():
    others = [_course(1, goal="epochs=2"), _course(1, source="shapes"), _course(1, machine="n")]
    assert len(course_results([_course(1), *others])) == 4


def test_a_store_gives_back_what_it_was_given(location):
    course = _course(1, absent={"mean_w": "no GPU"}, settings={"layout": "nchw"}, versions={"torch": "2"})
    with open_store(location) as store:
        store.add_course(course)
        assert store.courses("m") == [course]
        assert store.courses("elsewhere") == []
        assert store.records() == []
