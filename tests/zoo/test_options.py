"""Are a network's options read from its recipe, and a user's text in the type of the default?"""

import pytest

from netdyno.errors import NetdynoError
from netdyno.zoo.options import options_of, parsed_options, takes_items

KNOWN = {"hidden": 2048, "rate": 0.5, "cell": "lstm"}


def test_texts_become_values_of_the_default_s_type() -> None:
    texts = ["hidden=512", "rate=1", "cell=gru"]
    assert parsed_options("any", KNOWN, texts) == {"hidden": 512, "rate": 1.0, "cell": "gru"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hidden", "expected NAME=VALUE, received 'hidden'"),
        ("=3", "expected NAME=VALUE, received '=3'"),
        ("hidden=many", "network 'any', hidden: expected a whole number, received 'many'"),
        ("hidden=1.5", "network 'any', hidden: expected a whole number, received '1.5'"),
        ("hiden=3", "no option of any named 'hiden' among the 3 known. Did you mean 'hidden'?"),
    ],
)
def test_a_wrong_text_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(NetdynoError) as caught:
        parsed_options("any", KNOWN, [text])
    assert complaint in str(caught.value)


def test_only_keyword_only_parameters_are_options() -> None:
    assert options_of(lambda net, images, *, hidden=3, rate=0.5: None) == {"hidden": 3, "rate": 0.5}
    assert options_of(lambda net: None) == {}


def test_a_second_argument_is_the_dataset_s_items() -> None:
    assert takes_items(lambda net, images, *, hidden=3: None)
    assert not takes_items(lambda net, *, hidden=3: None)
