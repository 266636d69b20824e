"""`netdyno history SELECTOR`: how cells went over time, and what changed where they stepped."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from netdyno.cli.command import one_command
from netdyno.cli.options import JsonOption, store_location
from netdyno.report.terminal.console import data_console, print_json_list
from netdyno.report.terminal.histories import history_parts, said
from netdyno.results.exchange.selection import Selection
from netdyno.results.history.series import History, Turn, histories_of, started_at
from netdyno.results.result import Result
from netdyno.results.selectors import parsed
from netdyno.results.store import open_store

RECORDED = ("versions", "netdyno_version", "worker_hash", "graph_digest")


def history(
    context: typer.Context,
    selector: Annotated[
        str, typer.Argument(metavar="FIELD=VALUE,…", help="Which cells, e.g. network=lenet,batch=64.")
    ],
    figure: Annotated[str, typer.Option(help="Show this figure, such as energy; the headline if not given.")] = "",
    json: JsonOption = False,
) -> None:
    """Show every series of the cells, the steps in a figure, and what was recorded differently there."""
    parsed(selector)
    with open_store(store_location(context), create=False) as store:
        selection = Selection(store=store, selector=selector, every_series=True)
        found = histories_of(selection.results(), figure)
        if json:
            print_json_list(map(_as_json, _some(found, selection)))
            return
        for place, one in enumerate(_some(found, selection)):
            for part in ["", *history_parts(one)] if place else history_parts(one):
                data_console().print(part)


def _some(found: Iterator[History], selection: Selection) -> Iterator[History]:
    """The histories, of which there must be one."""
    first = next(found, None)
    if first is None:
        raise selection.nothing()
    return chain([first], found)


def _as_json(one: History) -> dict[str, Any]:
    return {
        **one.cell.as_dict(),
        "machine": one.machine,
        "figure": one.figure,
        "series": [_result_as_json(result, one.figure) for result in one.results],
        "steps": [_turn_as_json(turn) for turn in one.turns],
        "smallest_step": one.smallest,
        "said": said(one),
    }


def _result_as_json(result: Result, figure: str) -> dict[str, Any]:
    plain = ("runs", "outcome", "verdict")
    parts = to_builtins(result.figures.get(figure)) or dict.fromkeys(("value", "low", "high"))
    last = result.records[-1]
    return {
        "series": result.series,
        "started_at": started_at(result),
        **{name: parts[name] for name in ("value", "low", "high")},
        **{name: getattr(result, name) for name in plain},
        **{name: getattr(last, name) for name in RECORDED},
        "revision": last.environment.get("revision"),
    }


def _turn_as_json(turn: Turn) -> dict[str, Any]:
    step = asdict(turn.step)
    del step["index"]
    changed = [asdict(change) for change in turn.changes]
    return {"series": turn.result.series, "started_at": started_at(turn.result), **step, "changes": changed}


app = one_command(
    history,
    """
    netdyno history network=lenet
    netdyno history network=lenet,batch=64 --json
    """,
)
