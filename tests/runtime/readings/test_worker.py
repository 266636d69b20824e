"""What a worker's own timings say against its run."""

from types import SimpleNamespace
from typing import Any

import pytest

from netdyno.runtime.readings.worker import read_launch, read_loading, read_stages

BATCH, STEP_S = 64, 0.01


def _phases(compute_s: float, load_s: float, fed: tuple[float, ...] = (STEP_S,) * 5) -> Any:
    loader = {"read_s": 0.001, "decode_s": 0.02}
    turns = [(compute_s, fed_s) for fed_s in fed]
    return SimpleNamespace(compute_s=compute_s, load_s=load_s, feed_s=load_s, loader=loader, turns=turns)


def test_a_device_that_waits_for_its_host_is_flagged_with_how_much() -> None:
    slow = read_launch(SimpleNamespace(asked_s=0.0097, computed_s=0.01))
    assert slow.flags == ["host-bound (asking takes 9.7 of 10 ms a step)"]
    fast = read_launch(SimpleNamespace(asked_s=0.002, computed_s=0.01))
    assert (fast.values, fast.flags) == ({"asked_s": 0.002}, [])
    assert read_launch(None).absent == {"asked_s": "the worker did not report it"}


def test_stages_of_a_step_are_read_or_absent() -> None:
    assert read_stages({"forward": 0.003, "backward": 0.006}, "").values == {"forward_s": 0.003, "backward_s": 0.006}
    assert read_stages({}, "this adapter cannot").absent == {"split": "this adapter cannot"}


def test_a_loader_slower_than_the_device_is_what_bounds_a_run() -> None:
    found = read_loading(_phases(compute_s=STEP_S / 4, load_s=STEP_S), STEP_S, BATCH, "images")
    flag = "input-bound (the loader gives 6,400 images/s, most of it decode; the device could take 25,600)"
    assert found.flags == [flag]
    assert found.values["compute_items_per_s"] == pytest.approx(25_600)
    assert found.values["load_items_per_s"] == found.values["feed_items_per_s"] == pytest.approx(6_400)
    assert found.values["load_decode_s"] == 0.02


def test_speeds_are_told_in_the_items_of_the_network() -> None:
    found = read_loading(_phases(compute_s=STEP_S / 4, load_s=STEP_S), STEP_S, BATCH, "tokens")
    assert "6,400 tokens/s" in found.flags[0]


def test_a_loader_that_is_fast_enough_but_slows_the_steps_is_flagged_as_that() -> None:
    found = read_loading(_phases(compute_s=STEP_S / 2, load_s=STEP_S / 10), STEP_S, BATCH, "images")
    assert found.flags == ["slowed by feeding (without, it would make 12,800 images/s)"]


def test_a_machine_that_slowed_down_for_a_while_is_not_mistaken_for_a_slow_feed() -> None:
    """Computing and feeding are timed in turns: if one turn with feeding was as fast, the others had other causes."""
    drifting = (STEP_S, STEP_S, STEP_S, STEP_S / 2, STEP_S / 2)
    phases = _phases(compute_s=STEP_S / 2, load_s=STEP_S / 10, fed=drifting)
    assert read_loading(phases, STEP_S, BATCH, "images").flags == []


def test_a_run_that_is_fed_as_fast_as_it_computes_is_not_flagged() -> None:
    phases = _phases(compute_s=STEP_S * 0.97, load_s=STEP_S / 10)
    assert read_loading(phases, STEP_S, BATCH, "images").flags == []


def test_a_run_without_loading_has_no_such_readings() -> None:
    found = read_loading(None, STEP_S, BATCH, "images")
    assert (found.values, found.absent, found.flags) == ({}, {}, [])
