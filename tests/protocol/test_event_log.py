"""Events are data from outside: typed, bounded, and a bad one is a complaint that names its line and field."""

import json
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.protocol import event_log
from netdyno.protocol.event_log import parse_events, read_events, read_last_word
from netdyno.protocol.events import Done, Hello, Sample

HELLO = {"event": "hello", "at": 1.5, "protocol": 2, "versions": {"lib": "1"}}
SAMPLE = {"event": "sample", "at": 2.0, "steps": 3, "seconds": 0.5}
DRAWN = {"height": 1, "width": 1, "channels": 1, "made": "AA==", "images": "/w==", "sees_images": True}
PICTURES = {"event": "pictures", "at": 2.5, "drawn": DRAWN}
DONE = {"event": "done", "at": 3.0}


def _parse(*lines):
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return parse_events("".join(text + "\n" for text in texts).encode())


def test_events_are_typed_values_in_order():
    log = _parse(HELLO, SAMPLE, DONE)
    assert log.complaint == ""
    assert [type(event) for event in log.events] == [Hello, Sample, Done]
    assert log.first(Sample) == Sample(at=2.0, steps=3, seconds=0.5)
    assert (log.all(Sample), log.last) == ([log.events[1]], log.events[2])


def test_pictures_are_bytes():
    drawn = _parse(PICTURES).events[0].drawn
    assert (drawn.made, drawn.images) == (b"\x00", b"\xff")


def test_fields_that_nobody_knows_are_left_out():
    assert _parse({**SAMPLE, "mood": "good"}).events == _parse(SAMPLE).events


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("not json", "line 2 of its events is not an event"),
        ("\udcff", "line 2 of its events is not an event"),
        ("[" * 100_000, "line 2 of its events: expected `object`"),
        ('{"event": "sample", "at": NaN}', "line 2 of its events is not an event"),
        ("[]", "line 2 of its events: expected `object`, got `array`"),
        ({"event": "applause", "at": 1}, "line 2 of its events, field 'event': invalid value 'applause'"),
        ({"at": 1}, "line 2 of its events: object missing required field `event`"),
        ({"event": "sample", "at": 1, "steps": 1}, "line 2 of its events: object missing required field `seconds`"),
        ({**SAMPLE, "steps": True}, "line 2 of its events, field 'steps': expected `int`, got `bool`"),
        ({**SAMPLE, "steps": 0}, "line 2 of its events, field 'steps': expected `int` >= 1"),
        ({**SAMPLE, "steps": 10**30}, "field 'steps'"),
        ({**SAMPLE, "seconds": -1}, "line 2 of its events, field 'seconds': expected `float` >= 1e-09"),
        ('{"event": "sample", "at": 1, "steps": 1, "seconds": 1e999}', "field 'seconds': number out of range"),
        ({"event": "memory", "at": 1, "host_peak_bytes": "x"}, "field 'host_peak_bytes': expected `int | null`"),
        ({**HELLO, "versions": {"x": "1\x1b[31m"}}, "field 'versions[...]': expected `str` matching regex"),
        ({**PICTURES, "drawn": {**DRAWN, "made": "A" * 400_000}}, "field 'drawn.made': expected `bytes` of length"),
        ({**PICTURES, "drawn": {**DRAWN, "made": "AAAA"}}, "got 3 and 1 bytes"),
        ({**PICTURES, "drawn": {**DRAWN, "made": "", "images": ""}}, "got 0 and 0 bytes"),
        ({**PICTURES, "drawn": {**DRAWN, "made": "!"}}, "field 'drawn.made': invalid base64"),
        ({**PICTURES, "drawn": {**DRAWN, "width": 1000}}, "field 'drawn.width': expected `int` <= 64"),
        ({"event": "failed", "at": 1, "reason": "x" * 20_000}, "field 'reason': expected `str` of length <= 10000"),
    ],
)
def test_a_bad_event_is_a_complaint_that_names_line_and_field(line, complaint):
    text = line if isinstance(line, str) else json.dumps(line)
    data = (json.dumps(HELLO) + "\n").encode() + text.encode(errors="surrogateescape") + b"\n"
    log = parse_events(data)
    assert complaint in log.complaint
    assert len(log.complaint) < 400
    assert [type(event) for event in log.events] == [Hello]


def test_a_flood_of_small_events_is_refused():
    assert "over 100,000 events" in parse_events(b"{}\n" * 100_001).complaint


def test_integers_of_five_thousand_digits_are_refused_quickly():
    line = '{"event": "memory", "at": 1, "host_peak_bytes": ' + "9" * 5000 + "}"
    assert "field 'host_peak_bytes'" in _parse(line).complaint


def test_a_line_that_is_cut_off_at_the_end_is_left_out():
    assert parse_events(json.dumps(HELLO).encode() + b'\n{"event": "sam').complaint == ""


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([HELLO, DONE, DONE], "it said 2 last words"),
        ([HELLO, DONE, SAMPLE], "it went on after its last word 'done'"),
        ([{**HELLO, "protocol": 1}, DONE], "it speaks protocol 1, not 2"),
    ],
)
def test_an_impossible_order_is_a_complaint(lines, complaint):
    assert _parse(*lines).complaint == complaint


@given(st.binary(max_size=200))
def test_no_bytes_are_an_error(data):
    parse_events(data + b"\n")


def test_a_missing_file_is_an_empty_log(tmp_path):
    assert read_events(tmp_path / "events.jsonl").events == ()


@pytest.mark.parametrize("kind", ["fifo", "link to a device", "folder"])
def test_only_regular_files_are_read_and_nothing_is_waited_for(tmp_path, kind):
    path = tmp_path / "events.jsonl"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    start = time.monotonic()
    assert "its events cannot be read" in read_events(path).complaint
    assert read_last_word(path) is None
    assert time.monotonic() - start < 1


def test_more_than_a_worker_ever_writes_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(event_log, "MOST_BYTES", 1 << 20)
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"x" * ((1 << 20) + 1))
    assert read_events(path).complaint == "it wrote over 1 MiB of events"


def test_the_last_word_is_found_at_the_end_of_a_long_file(tmp_path):
    path = tmp_path / "events.jsonl"
    lines = [HELLO, *[SAMPLE] * 20_000]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_last_word(path) is None
    with path.open("a") as file:
        file.write(json.dumps(DONE) + "\n")
    assert read_last_word(path) == Done(at=3.0)
