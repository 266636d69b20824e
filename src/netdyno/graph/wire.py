"""How a training crosses the process boundary: JSON with a version and a content digest."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.model import Draw, Graph, Input, Node, Optimizer, Parameter, Training, Update

FORMAT = 1


def to_wire(training: Training) -> dict[str, Any]:
    """Plain JSON data; tuples become lists."""
    data: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **asdict(training)}))
    return data


def from_wire(data: Mapping[str, Any]) -> Training:
    """The training that `to_wire` was given."""
    if data.get("format") != FORMAT:
        raise NetdynoError(f"a graph: expected format {FORMAT}, received {data.get('format')!r}.")
    graph = data["graph"]
    return Training(
        graph=Graph(
            inputs=tuple(_input(value) for value in graph["inputs"]),
            parameters=tuple(_parameter(value) for value in graph["parameters"]),
            nodes=tuple(_node(value) for value in graph["nodes"]),
            outputs=tuple(graph["outputs"]),
        ),
        updates=tuple(_update(value) for value in data["updates"]),
    )


def digest(training: Training) -> str:
    """Sixteen hex digits that change with anything that is trained."""
    return hashlib.sha256(wire_text(training).encode()).hexdigest()[:16]


def wire_text(training: Training) -> str:
    """The wire form as compact JSON with sorted keys: what the digest is of, and what a store keeps."""
    return json.dumps(to_wire(training), sort_keys=True, separators=(",", ":"))


def _input(data: Mapping[str, Any]) -> Input:
    return Input(name=data["name"], shape=tuple(data["shape"]), draw=Draw(**data["draw"]))


def _parameter(data: Mapping[str, Any]) -> Parameter:
    return Parameter(
        name=data["name"],
        shape=tuple(data["shape"]),
        initial=Draw(**data["initial"]),
        trainable=data["trainable"],
    )


def _node(data: Mapping[str, Any]) -> Node:
    attributes = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data["attributes"].items()
    }
    return Node(
        name=data["name"],
        op=data["op"],
        inputs=tuple(data["inputs"]),
        shape=tuple(data["shape"]),
        attributes=attributes,
    )


def _update(data: Mapping[str, Any]) -> Update:
    return Update(
        name=data["name"],
        loss=data["loss"],
        parameters=tuple(data["parameters"]),
        optimizer=Optimizer(**data["optimizer"]),
    )
