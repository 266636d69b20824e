"""How what netdyno 0.1 kept (store revisions up to 0005, exports of schema_version 1) becomes runs with figures.

Part of a migration: it describes the past, so it does not follow later changes of the workloads.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from statistics import median
from typing import Any

CELL_FIELDS = (
    "network", "dataset", "framework", "device", "batch", "precision", "execution", "data", "threads",
)  # fmt: skip
RECORD_FIELDS = ("readings", "absent", "first_step_s", "host_peak_bytes", "device_peak_bytes")
HEADLINE = "throughput"
TRAINED = "trained"
FLOAT_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

Plain = Mapping[str, Any]


def cell_of(old: Plain) -> dict[str, Any]:
    """The cell's fields: `parallelism` had one value, and matrix products a dataset that there never was."""
    fields = {name: old[name] for name in CELL_FIELDS if name in old}
    width = str(fields["dataset"]).removeprefix("vectors")
    if fields["network"] == "matmul" and width.isdecimal():
        fields |= {"dataset": "none", "options": {} if width == "4096" else {"width": int(width)}}
    return fields


def renamed(readings: Plain) -> dict[str, Any]:
    """Readings, or the reasons why there are none, by their new names."""
    return {
        name.replace("_per_image", "_per_item").replace("_images_per_s", "_items_per_s"): value
        for name, value in readings.items()
    }


def train_figures(old: Plain, seconds_per_step: Sequence[float]) -> dict[str, dict[str, Any]]:
    """The figures of a measured run, from its fields with renamed readings."""
    item = "sample" if old["dataset"] == "none" or str(old["dataset"]).startswith("vectors") else "image"
    is_gpu, readings = old["device"] != "cpu", old["readings"]
    memory = "device_peak_bytes" if is_gpu else "host_peak_bytes"
    energy = "j_per_item" if is_gpu else "package_j_per_item"
    step_s = median(seconds_per_step)
    figures = [
        _figure("throughput", f"{item}s/s", "more", old["batch"] / step_s) | {"per_step": float(old["batch"])},
        _figure("step", "s", "less", step_s),
        _figure("first_step", "s", "less", old["first_step_s"]),
        _figure("memory", "bytes", "less", old[memory], memory),
        _figure("power", "W", "less", readings.get("mean_w"), "mean_w"),
        _figure("energy", f"J/{item}", "less", readings.get(energy), energy),
    ]
    return _present(figures)


def train_absent(old: Plain) -> dict[str, str]:
    """Why figures are absent, by their names too."""
    energy = "j_per_item" if old["device"] != "cpu" else "package_j_per_item"
    reasons = {"power": old["absent"].get("mean_w"), "energy": old["absent"].get(energy)}
    return {**old["absent"], **{name: reason for name, reason in reasons.items() if reason}}


def learn_figures(old: Plain) -> dict[str, dict[str, Any]]:
    """The figures of a training that was finished."""
    curve = old["curve"]
    figures = [
        _figure("accuracy", "", "more", curve[-1]["accuracy"] if curve else None),
        _figure("train_time", "s", "less", old["train_s"]),
        _figure("wall_time", "s", "less", old["wall_s"]),
        _figure("steps", "steps", "less", old["steps"]),
        _figure("energy", "J", "less", old["readings"].get("energy_j")),
    ]
    return _present(figures)


def learn_run(course: Plain) -> dict[str, Any]:
    """A course as the plain fields of a run; its series is found with its neighbours."""
    readings = {name: value for name, value in renamed(course["readings"]).items() if _is_finite(value)}
    is_over = course["outcome"] in (TRAINED, "short of its goal")
    figures = learn_figures({**course, "readings": readings}) if is_over else {}
    headline = "train_time" if course["goal"].startswith("accuracy") else "accuracy"
    absent = renamed(course["absent"])
    same = ("id", "machine", "started_at", "ended_at", "reason", "versions", "settings", "environment")
    return {
        **{name: course[name] for name in (*same, "graph_digest", "worker_hash", "netdyno_version")},
        "cell": {**cell_of(course), "workload": "learn", "goal": course["goal"], "source": course["source"]},
        "number": course["seed"],
        "outcome": "measured" if course["outcome"] == TRAINED else course["outcome"],
        "figures": figures,
        "headline": headline if headline in figures else next(iter(figures), headline),
        "curve": [_named(point) for point in course["curve"]],
        "readings": readings,
        "absent": {**absent, **({"energy": absent["energy_j"]} if "energy_j" in absent else {})},
    }


def series_of(courses: Iterable[Plain]) -> dict[str, int]:
    """The series of each course by its id: the newest of each seed together in the last, those that they replaced in
    the ones before."""
    seeds: dict[tuple[Any, ...], dict[int, list[str]]] = {}
    for course in sorted(courses, key=lambda each: str(each["started_at"])):
        owner = course["machine"], *(course[name] for name in (*CELL_FIELDS, "goal", "source"))
        seeds.setdefault(owner, {}).setdefault(course["seed"], []).append(course["id"])
    found: dict[str, int] = {}
    for numbers in seeds.values():
        last = max(map(len, numbers.values()))
        for ids in numbers.values():
            found |= {id_: last - place for place, id_ in enumerate(reversed(ids))}
    return found


def _figure(name: str, unit: str, better: str, value: Any, source: str = "") -> dict[str, Any]:
    return {"name": name, "unit": unit, "better": better, "value": value, "per_step": None, "source": source}


def _present(figures: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    known = [figure for figure in figures if figure["value"] is not None and _is_finite(figure["value"])]
    return {figure["name"]: figure | {"value": float(figure["value"])} for figure in known}


def _is_finite(value: Any) -> bool:
    try:
        return isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _named(point: Plain) -> dict[str, Any]:
    """A point of a curve: what is not finite by the name that JSON Lines have for it."""
    return {name: FLOAT_NAMES.get(str(value), value) for name, value in point.items()}
