"""What a cell that learns is told beside what every cell is: its goal, and whose files it learns from."""

from collections.abc import Mapping
from typing import Any

from netdyno.bench.fields import checked_text
from netdyno.data.packing import PACKED
from netdyno.data.rows.text import is_text
from netdyno.errors import NetdynoError
from netdyno.text import shown
from netdyno.workloads.goal import goal_of
from netdyno.workloads.workload import Workload
from netdyno.zoo.items import TEXT

OWN = ("goal", "source")  # fields that other workloads do not have


def learnt_fields(workload: Workload, fields: Mapping[str, Any]) -> dict[str, str]:
    """The fields that follow from a goal; none where the workload has none.

    A text of the user is a source, whichever of the two fields names it; the files are packed ones.
    """
    if not workload.has_goal:
        _refuse(workload, fields)
        return {}
    found = {name: checked_text(name, fields[name]) for name in ("dataset", *OWN) if name in fields}
    if is_text(found.get("dataset", "")):
        found = {**found, "dataset": TEXT.name, "source": found["dataset"]}
    data = checked_text("data", fields.get("data", PACKED))
    if data != PACKED:
        raise NetdynoError(f"data: expected '{PACKED}' for workload '{workload.name}', received {shown(data)}.")
    return {**found, "goal": goal_of(found.get("goal", "")).words(), "data": data}


def _refuse(workload: Workload, fields: Mapping[str, Any]) -> None:
    for name in OWN:
        if name in fields:
            raise NetdynoError(
                f"{name}: expected none for workload '{workload.name}', received {shown(fields[name])}.",
                hint='Cells that learn have one: workload = "learn".',
            )
