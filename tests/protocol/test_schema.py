"""One JSON Schema describes the protocol: it is written from the types, and every worker is held to it."""

import json
import shutil
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from netdyno.protocol.schema import FILE, schema_text

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "another-language"
QUICK = ("--runs", "1", "--seconds", "0.2")
SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))


@cache
def _validator(kind):
    """Made once: making it checks the schema itself, which takes longer than any event."""
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{kind}"})


def _check(kind, data):
    _validator(kind).validate(data)


def _ranks(home):
    """The request and the events of every rank below a home."""
    folders = sorted(home.glob("runs/*/rank0")) + sorted(home.glob("runs/*/*/rank0"))
    for folder in folders:
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        yield json.loads((folder / "request.json").read_text()), events


def test_the_file_is_what_the_types_say():
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run: python -m netdyno.protocol.schema"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("Event", {"event": "sample", "at": 1, "steps": 0, "seconds": 1}),
        ("Event", {"event": "applause", "at": 1}),
        ("Event", {"event": "done"}),
        ("Request", {"task": "train"}),
    ],
)
def test_the_schema_refuses_what_the_host_refuses(kind, data):
    with pytest.raises(jsonschema.ValidationError):
        _check(kind, data)


def test_the_workers_own_requests_and_events_are_as_the_schema_says(netdyno):
    cell = ("--framework", "null", "--network", "lenet", "--execution", "fastest", "--split")
    assert netdyno("run", *cell, *QUICK).returncode == 0
    netdyno.script(b7="raise")
    netdyno("run", "--framework", "scripted", "--network", "lenet", "--batch", "7", *QUICK)
    ranks = list(_ranks(netdyno.home))
    assert sorted(request["task"] for request, _ in ranks) == ["probe", "train", "train"]
    for request, events in ranks:
        _check("Request", request)
        for event in events:
            _check("Event", event)
    assert sorted(events[-1]["event"] for _, events in ranks) == ["done", "done", "failed"]


def test_a_worker_in_another_language_is_held_to_the_same_schema(netdyno):
    if shutil.which("node") is None:
        pytest.skip("the example needs the command 'node'")
    netdyno.environment["NETDYNO_SPECS"] = str(EXAMPLE)
    network = f"{EXAMPLE / 'softmax.py'}:softmax"
    cell = ("--framework", "javascript", "--network", network, "--dataset", "mnist", "--batch", "4")
    assert netdyno("run", *cell, *QUICK).returncode == 0
    ((_, events),) = _ranks(netdyno.home)
    assert {event["event"] for event in events} >= {"hello", "built", "sample", "done"}
    for event in events:
        _check("Event", event)
