"""Learning curves on the page: means with a band over seeds, and what is reached without a network."""

from tests.results.samples import learn_figures, make_cell, make_training

from netdyno.report.charts.marks import Band, Stroke, Words
from netdyno.report.page.trainings.curves import curves_pictures
from netdyno.results.record import Evaluation
from netdyno.results.result import results_of

TITLE = "Accuracy while training"


def _curve(accuracies, steps=(10, 20)):
    return tuple(
        Evaluation(step=step, train_s=step / 10, wall_s=step / 10, accuracy=accuracy, loss=0.1)
        for step, accuracy in zip(steps, accuracies, strict=True)
    )


def _trained(*curves, basis=None, **changes):
    cell = make_cell(workload="learn", goal="steps=20", source="mnist", data="packed", **changes)
    return [
        make_training(
            number, cell=cell, curve=curve, figures=learn_figures(curve, {}), headline="accuracy",
            id=f"{cell.key()} {number}", basis=basis or {},
        )
        for number, curve in enumerate(curves)
    ]  # fmt: skip


def _picture(*records):
    return next(iter(curves_pictures(results_of(records), TITLE)), None)


def _marks(picture, kind):
    return [mark for mark in picture.chart.marks if isinstance(mark, kind)]


def _texts(picture):
    return {mark.text for mark in _marks(picture, Words)}


def test_seeds_that_share_their_steps_are_a_mean_with_a_band():
    picture = _picture(*_trained(_curve([0.5, 0.9]), _curve([0.7, 0.94])))
    assert len(_marks(picture, Band)) == 1
    assert "from 0.6 to 0.92 in 2 points" in picture.chart.summary
    assert "a band from the lowest to the highest" in picture.caption


def test_seeds_with_other_steps_are_a_line_each():
    picture = _picture(*_trained(_curve([0.5, 0.9]), _curve([0.7, 0.94], steps=(10, 30))))
    assert _marks(picture, Band) == []
    assert picture.chart.summary.count("in 2 points") == 2
    assert "a line for each seed;" in picture.caption


def test_lines_of_one_framework_are_told_apart_by_what_differs():
    found = [run for hidden in (5, 6) for run in _trained(_curve([0.5, 0.9]), options={"hidden": hidden})]
    assert {"hidden=5", "hidden=6"} <= _texts(_picture(*found))


def test_the_usual_value_of_an_option_is_named_beside_the_others():
    found = [
        run for options in ({}, {"hidden": 6}) for run in _trained(_curve([0.5, 0.9]), network="ffn", options=options)
    ]
    assert {"hidden=512", "hidden=6"} <= _texts(_picture(*found))


def test_of_more_than_ten_lines_the_best_are_drawn_and_the_rest_counted():
    found = [
        run
        for hidden in range(1, 13)
        for run in _trained(_curve([0.5, 0.5 + hidden / 100]), options={"hidden": hidden})
    ]
    picture = _picture(*found)
    assert "The best 10 of 12" in picture.caption
    assert "hidden=12" in _texts(picture)
    assert not {"hidden=1", "hidden=2"} & _texts(picture)


def test_what_is_reached_without_a_network_is_a_dashed_line_with_its_name():
    picture = _picture(*_trained(_curve([0.5, 0.9]), basis={"simple bag of leaves": 0.41}))
    assert "bag of leaves 0.41" in _texts(picture)
    assert any(mark.dashes == "2 3" for mark in _marks(picture, Stroke))
    assert "bag of leaves: 0.41." in picture.chart.summary


def test_a_training_without_evaluations_has_no_chart():
    assert _picture(*_trained(())) is None


def test_every_score_of_a_network_that_classifies_nothing_has_a_chart():
    curve = tuple(
        Evaluation(step=step, train_s=1.0, wall_s=1.0, loss=2.0, scores={"reconstruction_error": error})
        for step, error in ((10, 0.5), (20, 0.25))
    )
    loss, error = curves_pictures(results_of(_trained(curve, curve)), "Loss while training")
    assert "2 to 2" in loss.chart.summary
    assert error.title == "Reconstruction error while training"
    assert "from 0.5 to 0.25" in error.chart.summary


def test_a_score_that_some_evaluations_lack_has_none():
    points = [
        Evaluation(step=step, train_s=1.0, wall_s=1.0, loss=2.0, scores=scores)
        for step, scores in ((10, {"variety": 0.5}), (20, {}))
    ]
    assert len(curves_pictures(results_of(_trained(tuple(points))), "Loss while training")) == 1
