"""The data-flow arithmetic, with the survey's worked example: four cards of 8 GB behind one PCIe 4.0 ×16."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.data.flow import Flow, inputs_of
from netdyno.errors import NetdynoError

PCIE_4_X16 = 31.5e9
SURVEY = Flow(bytes_per_device=8e9, link_bytes_per_s=PCIE_4_X16, devices=4, compute_s=0.5)
POSITIVE = st.floats(min_value=1e-6, max_value=1e12)


def test_the_survey_s_example_comes_out_digit_for_digit():
    assert round(SURVEY.refill_s, 6) == 0.253968
    assert round(SURVEY.refill_all_s, 6) == 1.015873
    assert round(SURVEY.refill_others_s, 4) == 0.7619
    assert round(SURVEY.idle_s, 4) == 0.2619
    assert round(100 * SURVEY.utilisation, 2) == 65.62
    assert SURVEY.bound_by == "link"


def test_a_grey_image_of_512_by_512_is_262144_inputs():
    assert inputs_of(512, 512, 1) == 262_144


def test_computing_longer_than_moving_leaves_nothing_idle():
    slow = Flow(bytes_per_device=8e9, link_bytes_per_s=PCIE_4_X16, devices=4, compute_s=2.0)
    assert (slow.idle_s, slow.utilisation, slow.bound_by) == (0.0, 1.0, "compute")


def test_a_disk_slower_than_the_link_decides():
    from_disk = Flow(
        bytes_per_device=8e9, link_bytes_per_s=PCIE_4_X16, devices=4, compute_s=0.5, storage_bytes_per_s=3.5e9
    )
    assert from_disk.refill_s == pytest.approx(8 / 3.5)
    assert from_disk.bound_by == "storage"


def test_a_device_alone_is_refilled_while_it_computes():
    alone = Flow(bytes_per_device=8e9, link_bytes_per_s=PCIE_4_X16, devices=1, compute_s=0.1)
    assert alone.refill_others_s == alone.refill_s
    assert alone.idle_s == pytest.approx(0.253968 - 0.1, abs=1e-6)


@given(moved=POSITIVE, speed=POSITIVE, devices=st.integers(1, 1000), compute_s=POSITIVE)
def test_utilisation_is_a_part_and_an_iteration_is_computing_and_waiting(moved, speed, devices, compute_s):
    flow = Flow(bytes_per_device=moved, link_bytes_per_s=speed, devices=devices, compute_s=compute_s)
    assert 0 < flow.utilisation <= 1
    assert math.isclose(flow.compute_s + flow.idle_s, max(flow.compute_s, flow.refill_others_s))


@pytest.mark.parametrize("name", ["bytes_per_device", "link_bytes_per_s", "devices", "compute_s"])
@pytest.mark.parametrize("value", [0, -1, math.nan])
def test_what_is_not_over_zero_is_refused_by_name(name, value):
    given = {"bytes_per_device": 1.0, "link_bytes_per_s": 1.0, "devices": 1, "compute_s": 1.0, name: value}
    with pytest.raises(NetdynoError, match=name):
        Flow(**given)
