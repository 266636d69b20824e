"""Whether a version lies in a range."""

import pytest

from netdyno.frameworks.versions import fits, is_range, lowest


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("2.13.0+cpu", ">=2,<3", True),
        ("3.0", ">=2,<3", False),
        ("2", ">=2.0.0", True),
        ("3.9.18", ">=3.11", False),
        ("2.14.0a0+git12", ">2.13", True),
        ("1.0.1", "==1.0", False),
        ("1.0", "!=1.0.0", False),
        ("", ">=0", False),
        ("unknown", ">=0", False),
        ("2.1-custom build", ">=2,<3", True),
        ("1.10", ">=1.9", True),
        ("1.4.2", "~=1.2", True),
        ("2.0", "~=1.2", False),
        ("3.0.0rc1", ">=3", True),
    ],
)
def test_only_the_numbers_decide(version: str, bounds: str, expected: bool) -> None:
    assert fits(version, bounds) is expected


def test_what_is_no_range_is_refused() -> None:
    assert is_range(">=2,<3")
    assert not is_range("2.*")
    assert not is_range("")
    assert not is_range(">=2,<3 or 4")
    with pytest.raises(ValueError, match="specifier"):
        fits("1.0", "1.0 to 2.0")


def test_lowest_names_where_a_range_starts() -> None:
    assert lowest("<3.7,>=3.6") == "3.6"
    assert lowest("<3") == ""
