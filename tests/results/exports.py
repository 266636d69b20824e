"""Stores with a bit of everything, and exports of them, for the tests of exports and imports."""

import io
import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from sqlalchemy import select
from tests.results.samples import make_cell, make_record, make_samples, make_training

from netdyno.results.exchange.files import EXPORTS, export
from netdyno.results.exchange.selection import Selection
from netdyno.results.proof import Proof
from netdyno.results.record import Evaluation, Record
from netdyno.results.store import Store, open_store
from netdyno.results.store.tables import GRAPHS

NAN = float("nan")
ENVIRONMENT = {
    "cpu": "A CPU",
    "usable_cores": 2.0,
    "physical_cores": 2,
    "gpus": [{"name": "NVIDIA H200"}],
    "turbo": None,
}


def some_records() -> list[Record]:
    """Two series of a cell, another machine's, a GPU's with readings and a trace, and one that was not measured."""
    cell = make_cell()
    gpu = make_cell(device="cuda", network="resnet50", dataset="imagenet", precision="bfloat16", execution="fastest")
    shared: dict[str, Any] = {
        "environment": ENVIRONMENT,
        "versions": {"alpha": "1.0"},
        "cost": {"step_flops": 10**12},
        "graph_digest": GRAPH[0],
    }
    return [
        *(make_record(cell, series=1, number=n, loss_last=0.25, **shared) for n in (1, 2)),
        *(make_record(cell, series=2, number=n, warmup=make_samples([0.3, 0.2]), **shared) for n in (1, 2, 3)),
        make_record(cell, machine="there", loss_first=2.5, loss_last=NAN, flags=("drifting",), **shared),
        make_record(
            gpu,
            id="gpu-1",
            settings={"execution": "compiled", "looked_at": {"eager": 0.5, "compiled": 0.25}},
            readings={"mean_w": 500.0, "j_per_item": 0.25, "energy_disagreement": -0.01, "load_decode_s": 0.5},
            absent={"package_j_per_item": "no counters"},
            trace={"power_w": [[0.0, 480.5], [1.25, 510.0]], "memory_bytes": [[0.0, 5e9]]},
            device_peak_bytes=3 << 30,
            host_peak_bytes=1 << 30,
            **shared,
        ),
        make_record(
            make_cell(batch=64), id="oom", outcome="out of memory", reason="asked 5 GiB | & had <3>", samples=()
        ),
    ]


def some_trainings() -> list[Record]:
    """Two of one goal: one with a loss that diverged, one that failed."""
    curve = tuple(
        Evaluation(step=step, train_s=float(step), wall_s=step + 0.5, accuracy=0.5, loss=loss)
        for step, loss in ((1, 2.0), (2, NAN), (3, float("inf")))
    )
    cell = make_cell(workload="learn", goal="epochs=1", source="mnist")
    return [
        make_training(0, id="training-1", cell=cell, curve=curve, environment=ENVIRONMENT),
        make_training(1, id="training-2", cell=replace(cell, batch=8), outcome="failed", reason="burnt", curve=(),
                      figures={}, environment=ENVIRONMENT),
    ]  # fmt: skip


GRAPH = ("0123456789abcdef", '{"format":1,"graph":{}}')


def some_proofs() -> list[Proof]:
    how = {"dataset": "mnist", "device": "cpu", "precision": "float32", "execution": "eager"}
    return [
        Proof(framework="alpha-1.0", network="lenet", passed=True, outputs=1e-7, gradients=2e-7, parameters=3e-7,
              versions={"alpha": "1.0"}, machine="here", proved_at="2026-11-15T09:00:00+00:00",
              graph_identity="graph", resolution={"gradients": 1e-5}, **how),
        Proof(framework="beta-1.0", network="lenet", outputs=NAN, worst_node="conv1", reason="no", machine="here",
              proved_at="2026-11-15T09:00:00+00:00", **how),
    ]  # fmt: skip


def fill(store: Store) -> None:
    for record in some_records():
        store.add(record)
    for training in some_trainings():
        store.add(training)
    store.add_graph(*GRAPH)
    for proof in some_proofs():
        store.add_proof(proof)


def full_store(location: str | Path) -> Store:
    store = open_store(str(location))
    fill(store)
    return store


def exported(store: Store, to: str = "json", **how: Any) -> bytes:
    file = io.BytesIO()
    export(Selection(store=store, **how), EXPORTS[to], file)
    return file.getvalue()


def everything(store: Store) -> list[str]:
    """All that a store holds, as text: NaN is not equal to itself."""
    return [repr(each) for each in (*store.records(), *store.proofs(), *stored_graphs(store))]


def stored_graphs(store: Store) -> list[tuple[str, str]]:
    with store.connection() as connection:
        return [tuple(row) for row in connection.execute(select(GRAPHS).order_by(GRAPHS.c.digest))]


def parsed(export: bytes) -> dict[str, list[dict[str, Any]]]:
    """The lines of an export by their kinds; the header under `header`."""
    header, *lines = map(json.loads, export.decode().splitlines())
    found: dict[str, list[dict[str, Any]]] = {"header": [header]}
    for line in lines:
        found.setdefault(line.pop("kind"), []).append(line)
    return found


def written(parts: dict[str, list[dict[str, Any]]], *, keep_digest: bool = False) -> bytes:
    """The reverse; without its digest, which would tell that someone edited it."""
    lines = [*parts["header"]]
    for kind, found in parts.items():
        if kind not in ("header", "end"):
            lines += [{"kind": kind, **line} if isinstance(line, dict) else line for line in found]
    lines += [{"kind": "end", **(parts["end"][0] if keep_digest else {})}]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()
