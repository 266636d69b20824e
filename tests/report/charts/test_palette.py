"""A framework looks the same everywhere, can be seen on any page, and keeps its colour whoever else is there."""

import itertools
import re

import numpy as np
import pytest

from netdyno.frameworks.spec import specs
from netdyno.report.charts.palette import DARK_PAGE, LEAST_CONTRAST, LIGHT_PAGE, contrast, css_variables, family, look

NAMES = sorted(specs())
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip
SPEC = """
name = "{name}"
title = "Aardvark"
adapter = "null"
module = "numpy"
distribution = "numpy"
versions = ">=1"
python = ">=3.6"
requirements = ["aardvark"]
devices = ["cpu"]
executions = ["eager"]
precisions = ["float32"]
"""


@pytest.mark.parametrize("name", [*NAMES, "a-stranger", "<script>", ""])
def test_a_colour_stands_out_from_its_page(name):
    assert contrast(look(name).light, LIGHT_PAGE) >= LEAST_CONTRAST
    assert contrast(look(name).dark, DARK_PAGE) >= LEAST_CONTRAST


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)
    assert contrast("#123456", "#123456") == 1


def test_no_two_frameworks_share_a_colour_or_a_variable():
    for field in ("light", "dark", "css", "order", "name"):
        values = [getattr(look(name), field) for name in NAMES]
        assert len(set(values)) == len(values), field


def test_families_are_told_apart_by_hue_and_members_by_shade():
    """Members are nearer to their own family's first than to any other's, in the plane of hues."""
    firsts = {family(name): name for name in sorted(NAMES, key=lambda name: -look(name).order)}
    drawn = [name for name in NAMES if not specs()[name].is_instrument and specs()[name].adapter]
    for name in drawn:
        apart = {kin: _hue_distance(look(name).light, look(first).light) for kin, first in firsts.items()}
        assert min(apart, key=apart.__getitem__) == family(name)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("page", ["light", "dark"])
def test_families_are_told_apart_by_readers_who_see_fewer_colours(sight, page):
    """Full shades of all families that can be drawn, as far apart in OKLab as two greys of 6 % lightness or more."""
    first = {family(name): name for name in sorted(NAMES, key=lambda name: -look(name).order)}
    drawn = [name for name in first.values() if specs()[name].adapter and not specs()[name].is_instrument]
    seen = {name: _oklab(SIGHTS[sight] @ _linear(getattr(look(name), page))) for name in drawn}
    apart = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in itertools.combinations(drawn, 2)}
    nearest = min(apart, key=apart.__getitem__)
    assert apart[nearest] > (0.09 if sight == "usual" else 0.055), nearest


def test_the_order_is_families_by_name_with_the_newest_first():
    ordered = sorted((n for n in NAMES if not specs()[n].is_instrument), key=lambda name: look(name).order)
    assert [family(name) for name in ordered] == sorted(family(name) for name in ordered)
    eras = {"today": 0, "last": 1, "2018": 2}
    for one, next_one in itertools.pairwise(ordered):
        if family(one) == family(next_one):
            assert eras[look(one).era] <= eras[look(next_one).era]


def test_a_framework_that_a_user_adds_changes_no_other_colour(tmp_path, monkeypatch):
    before = {name: look(name) for name in NAMES}
    (tmp_path / "aardvark-1.toml").write_text(SPEC.format(name="aardvark-1"))
    monkeypatch.setenv("NETDYNO_SPECS", str(tmp_path))
    assert {name: (look(name).light, look(name).dark) for name in NAMES} == {
        name: (old.light, old.dark) for name, old in before.items()
    }
    assert look("aardvark-1").name == "Aardvark"
    assert look("aardvark-1").order < look(NAMES[0]).order


def test_a_name_that_no_spec_has_is_grey_and_always_the_same():
    found = look("</style><script>alert(1)</script>")
    assert found == look("</style><script>alert(1)</script>")
    red, green, blue = _rgb(found.light)
    assert max(red, green, blue) - min(red, green, blue) < 16
    assert found.name == "</style><script>alert(1)</script>"
    assert re.fullmatch(r"--fw-other-\d", found.css)


def test_every_variable_is_set_for_light_and_for_dark_pages():
    light, system, chosen = css_variables().strip().split("\n")
    for name in [*NAMES, "a-stranger"]:
        assert f"{look(name).css}:{look(name).light};" in light.replace("}", ";")
        for dark in (system, chosen):
            assert f"{look(name).css}:{look(name).dark};" in dark.replace("}", ";")
    assert system.startswith("@media screen and (prefers-color-scheme:dark)")
    assert chosen.startswith("@media screen{:root[data-theme=dark]")


def _rgb(colour):
    return tuple(bytes.fromhex(colour[1:]))


def _linear(colour):
    values = np.array(_rgb(colour)) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _oklab(linear):
    """Ottosson 2020: distances in it are about as large as they look."""
    to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ np.clip(linear, 0, 1))


def _hue_distance(one, other):
    """Between directions from grey, whatever the lightness; in radians about."""
    vectors = []
    for colour in (one, other):
        mean = sum(_rgb(colour)) / 3
        own = [value - mean for value in _rgb(colour)]
        length = sum(value * value for value in own) ** 0.5
        vectors.append([value / length for value in own])
    return sum((a - b) ** 2 for a, b in zip(*vectors, strict=True)) ** 0.5
