"""JSON that is written element by element is the document that it would be at once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.report.terminal.console import print_json, print_json_list

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def test_a_list_and_its_elements_are_written_as_json_indents_them(capsys: pytest.CaptureFixture[str]) -> None:
    @given(values=st.lists(VALUES, max_size=3))
    def are_the_same(values: list[object]) -> None:
        print_json_list(iter(values))
        assert capsys.readouterr().out == json.dumps(values, indent=2) + "\n"
        print_json(values)
        assert capsys.readouterr().out == json.dumps(values, indent=2) + "\n"

    are_the_same()


def test_no_number_is_written_that_json_does_not_have() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json_list([{"value": float("nan")}])
