"""Are drawn trees what they say: joins of neighbours whose value is the label, the same for a seed?"""

import numpy as np

from netdyno.data.rows.trees import JOINS, tree_rows


def test_the_value_of_a_tree_is_its_label() -> None:
    rows = tree_rows(6).train
    for number in range(200):
        values = rows["digits"][number].tolist()
        for step in range(5):
            left, right = rows["left"][number, step], rows["right"][number, step]
            values[left] = JOINS[rows["operations"][number, step]](values[left], values[right])
        assert values[0] == rows["labels"][number]


def test_every_place_but_the_first_is_joined_away_once_and_the_last_step_joins_the_root() -> None:
    rows = tree_rows(8).test
    assert (np.sort(rows["right"], axis=1) == np.arange(1, 8)).all()
    assert (rows["left"] < rows["right"]).all()
    assert (rows["left"][:, -1] == 0).all()


def test_trees_differ_in_form_and_are_the_same_for_a_seed() -> None:
    one, again, other = tree_rows(5, seed=1), tree_rows(5, seed=1), tree_rows(5, seed=2)
    assert len({tuple(row) for row in one.train["right"].tolist()}) == 24
    assert (one.train["digits"] == again.train["digits"]).all()
    assert (one.train["digits"] != other.train["digits"]).any()
    assert one.simple == again.simple


def test_a_bag_of_leaves_says_the_value_better_than_chance_and_not_well() -> None:
    rows = tree_rows(12)
    commonest = np.bincount(rows.test["labels"]).max() / len(rows.test["labels"])
    assert commonest < rows.simple["bag of leaves"] < 0.5
