"""The protocol as one JSON Schema file, written by `python -m netdyno.protocol.schema`."""

import json
from pathlib import Path
from typing import get_args

import msgspec

from netdyno.protocol.events import AnyEvent
from netdyno.protocol.fields import PROTOCOL
from netdyno.protocol.request import AnyRequest

FILE = Path(__file__).with_name("protocol.schema.json")


def schema() -> dict[str, object]:
    """`$defs/Request` and `$defs/Event` describe what crosses in each direction."""
    kinds = {"Request": get_args(AnyRequest), "Event": get_args(AnyEvent)}
    _, components = msgspec.json.schema_components(
        [kind for group in kinds.values() for kind in group],
        ref_template="#/$defs/{name}",
        schema_hook=lambda kind: {"description": "any JSON value"},  # of object
    )
    unions = {
        name: {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in group]} for name, group in kinds.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"netdyno's worker protocol {PROTOCOL}",
        "description": "A request is one JSON object in request.json; events are JSON objects, one a line.",
        "$defs": {**unions, **components},
    }


def schema_text() -> str:
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
