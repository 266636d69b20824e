"""A record comes back from the database exactly as it went in."""

import uuid
from datetime import UTC
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.results.samples import make_record

from netdyno.errors import NetdynoError
from netdyno.results.cell import CHOICES, Cell
from netdyno.results.record import OUTCOMES, Record, Sample
from netdyno.results.store import open_store
from netdyno.results.store.rows import from_row, to_row

TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)
NAME = TEXT
MOMENT = st.sampled_from(("2026-11-15T10:00:00+00:00", "2026-11-15T10:00:00.125+02:00", "2025-01-01T00:00:00Z"))
WHOLE = st.integers(1, 2**31 - 1)
MOMENT = st.datetimes(timezones=st.just(UTC)).filter(lambda at: at.year > 999).map(lambda at: at.isoformat())
FLOAT = st.floats(allow_nan=False).map(lambda value: value + 0.0)
SECONDS = st.floats(min_value=1e-9, max_value=1e9)
SAMPLES = st.lists(st.builds(Sample, steps=WHOLE, seconds=SECONDS), max_size=5).map(tuple)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CELLS = st.builds(
    Cell,
    **dict.fromkeys(("network", "dataset", "framework"), NAME),
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
    options=st.dictionaries(NAME, st.integers(-(2**53), 2**53) | NAME, max_size=3),
    batch=WHOLE,
    threads=WHOLE,
)
RECORDS = st.builds(
    Record,
    id=st.uuids().map(str),
    cell=CELLS,
    machine=NAME,
    series=WHOLE,
    number=WHOLE,
    outcome=st.sampled_from(OUTCOMES),
    started_at=MOMENT,
    ended_at=MOMENT,
    reason=TEXT,
    samples=SAMPLES,
    warmup=SAMPLES,
    flags=st.lists(TEXT, max_size=3).map(tuple),
    **{name: st.none() | FLOAT for name in ("build_s", "first_step_s", "loss_first", "loss_last")},
    **{name: st.none() | st.integers(0, 2**63 - 1) for name in ("host_peak_bytes", "device_peak_bytes")},
    **dict.fromkeys(("graph_digest", "weights_digest", "worker_hash", "netdyno_version"), NAME),
    versions=st.dictionaries(NAME, NAME, max_size=3),
    settings=st.dictionaries(NAME, JSON_VALUES, max_size=3),
    environment=st.dictionaries(NAME, JSON_VALUES, max_size=3),
    cost=st.dictionaries(NAME, st.integers(-(2**63), 2**63 - 1), max_size=3),
)


@given(record=RECORDS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_row_holds_all_of_a_record(record: Record) -> None:
    assert from_row(to_row(record)) == record


def test_a_database_holds_all_of_a_record(location: str) -> None:
    with open_store(location) as store:

        @given(record=RECORDS)
        @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        def comes_back(record: Record) -> None:
            # An example may repeat another; a store would rightly refuse that.
            record = replace(record, id=uuid.uuid4().hex, machine=uuid.uuid4().hex)
            store.add(record)
            store.add(record)
            assert store.records(machine=record.machine) == [record]

        comes_back()


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), float("-inf"), 5e-324, 0.1 + 0.2])
def test_a_diverged_loss_is_kept_as_it_is(location: str, loss: float) -> None:
    record = make_record(loss_last=loss)
    with open_store(location) as store:
        store.add(record)
        store.add(record)
        assert repr(store.records()[0].loss_last) == repr(loss)


def test_a_zero_without_its_sign_is_the_same_record(location: str) -> None:
    with open_store(location) as store:
        store.add(make_record(loss_last=-0.0))
        store.add(make_record(loss_last=-0.0))
        assert store.records()[0].loss_last == 0


def test_last_words_no_database_can_store_do_not_lose_a_record(location: str) -> None:
    record = make_record(outcome="crashed", reason="core\0dumped \udcff", samples=())
    with open_store(location) as store:
        store.add(record)
        store.add(record)
        assert store.records()[0].reason == "core�dumped ?"


def test_values_that_json_cannot_say_are_refused_by_name() -> None:
    with pytest.raises(NetdynoError, match="settings to hold what JSON can say"):
        to_row(make_record(settings={"scale": float("nan")}))
    with pytest.raises(NetdynoError, match="record here-1-1 cannot be kept"):
        to_row(make_record(environment={"cores": object()}))


def test_a_cell_of_a_newer_netdyno_is_named_and_not_a_traceback() -> None:
    row = to_row(make_record()) | {"device": "quantum"}
    with pytest.raises(NetdynoError, match="record 'here-1-1' cannot be read: device"):
        from_row(row)
