"""The page in families: headings in a fixed order, the contents like them, trainings too."""

import re

from tests.report.pages import page_of, runs_of
from tests.results.samples import learn_figures, make_cell, make_training

from netdyno.results.record import Evaluation
from netdyno.results.result import results_of


def _page(*networks, **contents):
    return page_of([run for name in networks for run in runs_of(framework="alpha", network=name)], **contents)


def test_cases_stand_under_their_family_and_the_contents_follow():
    page = _page("my_net", "lstm", "lenet", "alexnet")
    headings = re.findall(r'<h[23] id="(family-[\w-]+|on-[\w-]+)">', page)
    assert headings == [
        "family-convolutional", "on-train-mnist-alexnet", "on-train-mnist-lenet",
        "family-recurrent", "on-train-mnist-lstm",
        "family-your-own", *[each for each in headings if "my" in each],
    ]  # fmt: skip
    nav = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r'href="#((?:family|on)-[\w-]+)"', nav) == headings


def test_trainings_stand_under_their_family():
    curve = (Evaluation(step=1, train_s=1.0, wall_s=1.0, accuracy=0.9, loss=0.1),)
    records = [
        make_training(
            0, cell=make_cell(workload="learn", network=name, goal="steps=1", source="mnist", data="packed"),
            curve=curve, figures=learn_figures(curve, {}), headline="accuracy", id=name,
        )
        for name in ("lstm", "lenet")
    ]  # fmt: skip
    page = _page("lenet", trainings=results_of(records))
    titles = re.findall(r'<h3 class="family">([\w ]+)</h3>', page)
    assert titles == ["Convolutional", "Recurrent"]
