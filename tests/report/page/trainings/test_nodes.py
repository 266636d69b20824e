"""Error against cost on the page: nodes with the survey's rule, and networks on the same task."""

from tests.report.pages import page_of
from tests.report.trained import trained

from netdyno.report.charts.marks import Words
from netdyno.report.page.trainings.nodes import tradeoffs
from netdyno.results.result import results_of


def _ffn(**changes):
    sizes = ((196, 0.03), (784, 0.02), (3136, 0.025))
    return [
        run
        for hidden, error in sizes
        for run in trained(
            "ffn", [error, error + 0.001, error - 0.001], options={"hidden": hidden}, flops=hidden * 5e3, **changes
        )
    ]


def _words(chart):
    return {mark.text: mark for mark in chart.marks if isinstance(mark, Words)}


def test_the_survey_is_drawn_where_hidden_nodes_are_as_many_as_inputs():
    (found,) = tradeoffs(results_of(_ffn()))
    words = _words(found.picture.chart)
    assert abs(words["the survey: from 784 →"].x.share - 0.5) < 1e-3  # 784 is halfway from 196 to 3136 by ratio
    assert {"196", "784", "3,136"} <= set(words)
    assert found.sentences[0].endswith("it held.")


def test_every_framework_has_its_line_and_its_sentence():
    (found,) = tradeoffs(results_of([*_ffn(), *_ffn(framework="beta")]))
    assert {"3,136, alpha", "3,136, beta"} <= set(_words(found.picture.chart))
    assert [sentence.partition(".")[0] for sentence in found.sentences] == ["alpha", "beta"]


def test_forms_of_equal_cost_are_shown_over_seconds_and_the_advised_one_is_marked():
    runs = [*trained("dcn", [0.02], flops=9e6), *trained("dcn", [0.03], flops=9.1e6, options={"form": "growing"})]
    (found,) = tradeoffs(results_of(runs))
    assert {"shrinking, as advised", "growing"} <= set(_words(found.picture.chart))
    assert "over seconds of training" in found.picture.chart.summary


def test_networks_with_the_same_task_and_budget_are_in_one_chart():
    runs = [
        *trained("lenet", [0.01, 0.02], seconds=5.0),
        *trained("rbm", [0.05]),
        *trained("vgg16", [0.1], goal="steps=9"),
    ]
    (found,) = tradeoffs(results_of(runs))
    assert found.picture.title == "Networks on mnist"
    assert {"lenet", "rbm"} <= set(_words(found.picture.chart))
    assert "vgg16" not in _words(found.picture.chart)


def test_of_a_network_with_several_options_its_best_is_compared():
    (_, found) = tradeoffs(results_of([*_ffn(), *trained("lenet", [0.01])]))
    assert {"ffn hidden=784", "lenet"} <= set(_words(found.picture.chart))


def test_the_page_has_the_charts_and_the_verdicts():
    page = page_of([], trainings=results_of(_ffn()))
    assert 'href="#tradeoffs"' in page
    assert "The survey: at least as many hidden nodes as inputs, here 784." in page
    assert "There are no results" not in page
