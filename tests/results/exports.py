"""Stores with a bit of everything, and exports of them, for the tests of exports and imports."""

import io
from pathlib import Path
from typing import Any

from tests.results.samples import make_cell, make_record, make_samples

from netdyno.results.course import Course, Evaluation
from netdyno.results.export import EXPORTS, export
from netdyno.results.proof import Proof
from netdyno.results.record import Record
from netdyno.results.selection import Selection
from netdyno.results.store import Store, open_store

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


def some_courses() -> list[Course]:
    curve = tuple(
        Evaluation(step=step, train_s=float(step), wall_s=step + 0.5, accuracy=0.5, loss=loss)
        for step, loss in ((1, 2.0), (2, NAN), (3, float("inf")))
    )
    times = {"started_at": "2026-11-15T10:00:00+00:00", "ended_at": "2026-11-15T10:01:00.250+00:00"}
    told: dict[str, Any] = {
        "goal": "epochs=1",
        "source": "mnist",
        "machine": "here",
        "environment": ENVIRONMENT,
        **times,
    }
    return [
        Course(id="course-1", cell=make_cell(), seed=0, outcome="trained", curve=curve, steps=3, train_s=2.5, **told),
        Course(id="course-2", cell=make_cell(batch=8), seed=1, outcome="failed", reason="burnt", **told),
    ]


def some_proofs() -> list[Proof]:
    how = {"dataset": "mnist", "device": "cpu", "precision": "float32", "execution": "eager"}
    return [
        Proof(framework="alpha-1.0", network="lenet", passed=True, outputs=1e-7, gradients=2e-7, parameters=3e-7,
              versions={"alpha": "1.0"}, machine="here", proved_at="2026-11-15T09:00:00+00:00", **how),
        Proof(framework="beta-1.0", network="lenet", outputs=NAN, worst_node="conv1", reason="no", machine="here",
              proved_at="2026-11-15T09:00:00+00:00", **how),
    ]  # fmt: skip


def fill(store: Store) -> None:
    for record in some_records():
        store.add(record)
    for course in some_courses():
        store.add_course(course)
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
    return [repr(each) for each in (*store.records(), *store.courses(), *store.proofs())]
