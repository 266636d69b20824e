"""How a programme crosses the process boundary: JSON with a version and a content digest."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.graph.model import Draw, Graph, Input, Node, Optimizer, Parameter, Programme, Stage, Update
from netdyno.graph.ops import OPS

FORMAT = 2


def to_wire(programme: Programme) -> dict[str, Any]:
    """Plain JSON data with the facts of the ops that it uses; tuples become lists."""
    ops = sorted({node.op for node in programme.graph.nodes})
    return {**_content(programme), "facts": {op: _plain(asdict(OPS[op].facts())) for op in ops}}


def from_wire(data: Mapping[str, Any]) -> Programme:
    """The programme that `to_wire` was given."""
    if data.get("format") != FORMAT:
        raise NetdynoError(f"a graph: expected format {FORMAT}, received {data.get('format')!r}.")
    graph = data["graph"]
    return Programme(
        graph=Graph(
            inputs=tuple(_input(value) for value in graph["inputs"]),
            parameters=tuple(_parameter(value) for value in graph["parameters"]),
            nodes=tuple(_node(value) for value in graph["nodes"]),
            outputs=tuple(graph["outputs"]),
        ),
        stages=tuple(_stage(value) for value in data["stages"]),
    )


def digest(programme: Programme) -> str:
    """Sixteen hex digits that change with anything that is computed."""
    return _hash(_content(programme))


def identity(programme: Programme) -> str:
    """As `digest`, but the same for every batch size: what a proof says of a network holds at any.

    Where an op may move the batch to another axis, shapes of nodes are left out: they follow from the rest.
    """
    content = _content(programme)
    graph = content["graph"]
    if any(OPS[node["op"]].moves_batch for node in graph["nodes"]):
        for node in graph["nodes"]:
            node["shape"] = []
    batch = graph["inputs"][0]["shape"][0] if graph["inputs"] else None
    drawn = [node["attributes"] for node in graph["nodes"] if -1 not in node["attributes"].get("shape", [-1])]
    for shaped in (*graph["inputs"], *graph["nodes"], *drawn):
        if shaped["shape"][:1] == [batch]:
            shaped["shape"][0] = "batch"
    return _hash(content)


def wire_text(programme: Programme) -> str:
    """The content as compact JSON with sorted keys: what `digest` is of, and what a store keeps."""
    return _text(_content(programme))


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()[:16]


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _content(programme: Programme) -> dict[str, Any]:
    return _plain({"format": FORMAT, **asdict(programme)})


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """As it comes back from JSON."""
    back: dict[str, Any] = json.loads(json.dumps(data))
    return back


def _input(data: Mapping[str, Any]) -> Input:
    return Input(**{**data, "shape": tuple(data["shape"]), "draw": Draw(**data["draw"])})


def _parameter(data: Mapping[str, Any]) -> Parameter:
    return Parameter(**{**data, "shape": tuple(data["shape"]), "initial": Draw(**data["initial"])})


def _node(data: Mapping[str, Any]) -> Node:
    attributes = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data["attributes"].items()
    }
    made = {"inputs": tuple(data["inputs"]), "shape": tuple(data["shape"]), "attributes": attributes}
    return Node(**{**data, **made})


def _stage(data: Mapping[str, Any]) -> Stage:
    return Stage(name=data["name"], updates=tuple(_update(value) for value in data["updates"]))


def _update(data: Mapping[str, Any]) -> Update:
    return Update(
        name=data["name"],
        loss=data["loss"],
        parameters=tuple(data["parameters"]),
        optimizer=Optimizer(**data["optimizer"]),
    )
