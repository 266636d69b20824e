"""Messages as they lie on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.data.codecs.protobuf import bytes_field, number_field, signed, varint, varints
from netdyno.data.codecs.protobuf import fields as fields_of
from netdyno.errors import NetdynoError

NUMBERS = st.integers(1, 2**29 - 1)
FIELDS = st.lists(st.tuples(NUMBERS, st.one_of(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=300))))


def _fields(data):
    return list(fields_of(data, "here"))


def _encoded(number, value):
    return number_field(number, value) if isinstance(value, int) else bytes_field(number, value)


def _decoded(value):
    return signed(value) if isinstance(value, int) else value


@given(FIELDS)
def test_fields_come_back_in_their_order(fields):
    data = b"".join(_encoded(number, value) for number, value in fields)
    assert [(number, _decoded(value)) for number, value in _fields(data)] == fields


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (-1, "ff" * 9 + "01")]
)
def test_numbers_lie_as_the_specification_says(value, expected):
    assert varint(value).hex() == expected


def test_a_message_lies_as_the_specification_says():
    """Its two examples: a = 150, and b = "testing"."""
    assert number_field(1, 150).hex() == "089601"
    assert bytes_field(2, b"test", b"ing").hex() == "120774657374696e67"


def test_fields_of_fixed_length_are_passed_by():
    data = bytes.fromhex("0d01020304110102030405060708") + number_field(3, 7)
    assert [number for number, _ in _fields(data)] == [1, 2, 3]


@given(FIELDS.filter(bool), st.data())
def test_a_cut_message_is_refused_or_ends_between_fields(fields, data):
    parts = [_encoded(number, value) for number, value in fields]
    whole = b"".join(parts)
    size = data.draw(st.integers(0, len(whole) - 1))
    between = {sum(map(len, parts[:count])) for count in range(len(parts))}
    if size in between:
        assert len(_fields(whole[:size])) < len(fields)
    else:
        with pytest.raises(NetdynoError, match="here: expected"):
            _fields(whole[:size])


@given(st.binary(max_size=200))
def test_rubbish_is_read_or_refused_and_nothing_else(data):
    try:
        fields = _fields(data)
    except NetdynoError:
        return
    assert len(fields) <= len(data)


@pytest.mark.parametrize("data", ["00", "0b", "0e", "ffffffffffffffffffff01", "0affffffffffffffff7f00"])
def test_what_cannot_be_a_field_is_refused(data):
    with pytest.raises(NetdynoError, match="here: expected"):
        _fields(bytes.fromhex(data))


def test_packed_numbers_come_back():
    assert list(varints(varint(3) + varint(300), "here")) == [3, 300]
