"""Networks under their families: the zoo's own, those of users, and what nobody knows."""

from tests.results.samples import make_cell

from netdyno.report.networks import TITLES, by_family, by_options, family_of
from netdyno.zoo.catalog import entries


def test_every_family_of_the_zoo_has_a_title():
    assert {entry.family for entry in entries()} <= set(TITLES)


def test_networks_of_users_are_their_own_and_the_rest_is_other():
    assert [family_of(name) for name in ("my_net", "some/file.py:net", "net-of-tomorrow")] == ["own", "own", "other"]


def test_families_keep_their_order_and_networks_theirs():
    names = ["net-of-tomorrow", "vae", "lenet", "my_net", "lstm", "gan", "alexnet"]
    assert by_family(names, str) == {
        "Convolutional": ["lenet", "alexnet"],
        "Recurrent": ["lstm"],
        "Generative": ["vae", "gan"],
        "Your own": ["my_net"],
        "Other": ["net-of-tomorrow"],
    }


def test_options_are_in_the_order_of_their_numbers():
    cells = [make_cell(network="ffn", options={"hidden": hidden}) for hidden in (1568, 196, 3136)]
    assert [dict(cell.options)["hidden"] for cell in sorted(cells, key=by_options)] == [196, 1568, 3136]
    forms = [make_cell(options={"form": form}) for form in ("shrinking", "growing")]
    assert [dict(cell.options)["form"] for cell in sorted(forms, key=by_options)] == ["growing", "shrinking"]
