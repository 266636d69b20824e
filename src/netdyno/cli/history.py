"""`netdyno history SELECTOR`: how cells went over time, and what changed where they stepped."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from netdyno.cli.command import one_command
from netdyno.cli.options import JsonOption, store_location
from netdyno.report.terminal.console import data_console, print_json
from netdyno.report.terminal.histories import history_parts, said
from netdyno.results.compare_selectors import matching, parsed
from netdyno.results.compare_sides import read_store
from netdyno.results.history import History, Turn, histories, started_at
from netdyno.results.result import Result

RECORDED = ("versions", "netdyno_version", "worker_hash", "graph_digest")


def history(
    context: typer.Context,
    selector: Annotated[
        str, typer.Argument(metavar="FIELD=VALUE,…", help="Which cells, e.g. network=lenet,batch=64.")
    ],
    json: JsonOption = False,
) -> None:
    """Show every series of the cells, the steps in their speed, and what was recorded differently there."""
    parsed(selector)
    found = histories(matching(read_store(store_location(context)), selector))
    if json:
        print_json([_as_json(one) for one in found])
        return
    for place, one in enumerate(found):
        for part in ["", *history_parts(one)] if place else history_parts(one):
            data_console().print(part)


def _as_json(one: History) -> dict[str, Any]:
    return {
        **one.cell.as_dict(),
        "machine": one.machine,
        "series": [_result_as_json(result) for result in one.results],
        "steps": [_turn_as_json(turn) for turn in one.turns],
        "smallest_step": one.smallest,
        "said": said(one),
    }


def _result_as_json(result: Result) -> dict[str, Any]:
    plain = ("images_per_s", "low", "high", "runs", "outcome", "verdict")
    last = result.records[-1]
    return {
        "series": result.series,
        "started_at": started_at(result),
        **{name: getattr(result, name) for name in plain},
        **{name: getattr(last, name) for name in RECORDED},
        "revision": last.environment.get("revision"),
    }


def _turn_as_json(turn: Turn) -> dict[str, Any]:
    told = asdict(turn.step)
    del told["index"]
    changed = [asdict(change) for change in turn.changes]
    return {"series": turn.result.series, "started_at": started_at(turn.result), **told, "changes": changed}


app = one_command(
    history,
    """
    netdyno history network=lenet
    netdyno history framework=pytorch-2 --json
    """,
)
