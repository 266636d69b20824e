"""The largest batch is found exactly and by few tries, from whatever is remembered."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.bench.search.largest_batch import Search, SearchOptions, find_largest
from netdyno.errors import NetdynoError
from netdyno.results.limit import Limit
from netdyno.workloads.fit import Fit

NOTHING = Limit(machine="m", cell_key="k")


class Device:
    """Memory for so many images, without a process: what a search asks of it and what it remembers."""

    def __init__(self, images, versions="v1"):
        self.images = images
        self.versions = versions
        self.asked = []
        self.remembered = []

    def attempt(self, batch, tries_left):
        assert tries_left >= 1
        self.asked.append(batch)
        outcome = "fits" if batch <= self.images else "out of memory"
        return Fit(batch=batch, outcome=outcome, reason="no room" * (outcome != "fits"), versions=self.versions)

    def search(self, own=8, kept=NOTHING, **more):
        search = Search(label="a cell", own=own, kept=kept, **more)
        return find_largest(search, self.attempt, self.remembered.append)


def _kept(fits, fails, versions="v1"):
    return replace(NOTHING, fits=fits, fails=fails, versions=versions)


@given(images=st.integers(1, 5000), own=st.integers(1, 4096))
def test_the_batch_that_is_found_fits_and_one_more_was_seen_not_to(images, own):
    device = Device(images)
    limit = device.search(own)
    assert (limit.fits, limit.fails, limit.reason) == (images, images + 1, "no room")
    assert {images, images + 1} <= set(device.asked)
    assert len(device.asked) == len(set(device.asked)) <= 2 + 2 * 13


@given(images=st.integers(1, 500), own=st.integers(1, 100), granularity=st.integers(1, 20))
def test_with_a_granularity_only_its_multiples_are_tried(images, own, granularity):
    device = Device(images + granularity)
    limit = device.search(own, granularity=granularity)
    assert limit.fits == device.images // granularity * granularity
    assert limit.fails == limit.fits + granularity
    assert all(batch % granularity == 0 for batch in device.asked)


@given(
    images=st.integers(1, 300),
    fits=st.integers(0, 300),
    gap=st.none() | st.integers(1, 50),
    versions=st.sampled_from(["v1", "v2"]),
)
def test_whatever_is_remembered_a_search_ends_with_what_it_saw(images, fits, gap, versions):
    """Also where memory has become more or less since: only what lies above an old failure is believed unseen."""
    device = Device(images)
    kept = _kept(fits, None if gap is None else fits + gap, versions)
    limit = device.search(kept=kept)
    assert limit.is_exact
    assert limit.fits in device.asked
    if kept.versions != device.versions or kept.fails is None or images < kept.fails:
        assert limit.fits == images


def test_a_known_limit_costs_one_try_and_two_with_other_versions():
    same, other = Device(37), Device(37, versions="v2")
    assert same.search(kept=_kept(37, 38)).fits == other.search(kept=_kept(37, 38)).fits == 37
    assert (same.asked, other.asked) == ([37], [37, 38])


def test_other_versions_that_need_less_are_found_to():
    device = Device(40, versions="v2")
    assert device.search(kept=_kept(37, 38)).fits == 40
    assert {limit.versions for limit in device.remembered} == {"v2"}


def test_a_limit_that_does_not_hold_today_is_searched_below():
    device = Device(20)
    assert device.search(kept=_kept(37, 38)).fits == 20
    assert max(device.asked) == 37


def test_an_interrupted_search_goes_on_within_its_bounds():
    device = Device(100)
    device.search(kept=_kept(64, 128))
    assert device.asked[0] == 64
    assert all(64 <= batch < 128 for batch in device.asked)


def test_every_try_narrows_what_is_remembered():
    device = Device(37)
    device.search(own=64)
    bounds = [(limit.fits, limit.fails) for limit in device.remembered]
    assert bounds == [(0, 64), (32, 64), (32, 48), (32, 40), (36, 40), (36, 38), (37, 38)]


def test_the_tries_that_are_left_are_right_once_something_failed():
    left = []
    device = Device(37)

    def attempt(batch, tries_left):
        left.append(tries_left)
        return device.attempt(batch, tries_left)

    find_largest(Search(label="a cell", own=32, kept=NOTHING), attempt)
    assert left == [6, 6, 5, 4, 3, 2, 1]


def test_growing_ends_at_the_cap_without_a_proof():
    device = Device(10**9)
    limit = device.search(own=24, cap=100)
    assert device.asked == [24, 48, 96, 100]
    assert (limit.fits, limit.fails, limit.is_exact) == (100, None, False)


def test_a_network_that_does_not_fit_at_all_is_an_error_with_the_reason():
    with pytest.raises(NetdynoError, match=r"a cell: expected a batch that fits.*even at 1: no room"):
        Device(0).search()


def test_a_graph_that_cannot_be_made_bounds_the_search_only_where_a_smaller_one_fitted():
    def attempt(batch, tries_left):
        return Fit(batch=batch, outcome="fits" if batch <= 12 else "no graph", reason="too long")

    assert find_largest(Search(label="a cell", own=8, kept=NOTHING), attempt).fits == 12
    with pytest.raises(NetdynoError, match="stopped at 16: no graph: too long"):
        find_largest(Search(label="a cell", own=16, kept=NOTHING), attempt)


@pytest.mark.parametrize("granularity", [0, 2**21])
def test_an_impossible_granularity_is_refused(granularity):
    with pytest.raises(NetdynoError, match=f"granularity: expected 1 to 1048576, received {granularity}"):
        SearchOptions(granularity=granularity)


class Measured(Device):
    """Also tells how much a batch took: something fixed, so much an image, and a little more or less of it."""

    FIXED, EACH = 3_000, 70

    def attempt(self, batch, tries_left):
        fit = super().attempt(batch, tries_left)
        took = self.FIXED + self.EACH * batch + (batch * 7919) % 50 * self.EACH // 25
        return replace(fit, peak_bytes=took) if fit.fits else fit


def test_what_batches_took_leads_to_the_limit_in_fewer_tries():
    blind, guided = Device(3_000), Measured(3_000)
    capacity = guided.FIXED + guided.EACH * 3_000
    assert blind.search(own=8).fits == guided.search(own=8, capacity=capacity).fits == 3_000
    assert len(guided.asked) <= 0.75 * len(blind.asked)


@given(images=st.integers(1, 5000), own=st.integers(1, 4096), error=st.floats(0.2, 20))
def test_a_wrong_guess_costs_tries_but_not_the_answer(images, own, error):
    device = Measured(images)
    limit = device.search(own, capacity=int(error * (device.FIXED + device.EACH * images)))
    assert (limit.fits, limit.fails) == (images, images + 1)
    assert len(device.asked) == len(set(device.asked)) <= 2 + 4 * 13
