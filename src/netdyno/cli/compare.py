"""`netdyno compare A B`: faster, slower, equal or cannot tell."""

import re
from dataclasses import asdict
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from netdyno.cli.command import one_command
from netdyno.cli.options import JsonOption, store_location
from netdyno.errors import NetdynoError, unknown
from netdyno.report.terminal.comparisons import Shown, comparison_parts
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.pull_request import comparison_markdown
from netdyno.results.compare.pairs import Compared, compare_all, find_smaller, overall
from netdyno.results.compare.question import question_of
from netdyno.results.compare.side import Side
from netdyno.results.compare.sides import Sides, find_sides

FORMATS = ("table", "markdown")
SideArgument = Annotated[
    str, typer.Argument(metavar="SIDE", help="FIELD=VALUE,… such as execution=eager or revision=1a2b3c4; or a store.")
]
FigureOption = Annotated[
    str, typer.Option("--figure", help="Compare this figure, such as energy; the headline if not given.")
]
MarginOption = Annotated[str, typer.Option("--margin", metavar="PERCENT", help="Differences under it may be equal.")]
SlowerOption = Annotated[
    str | None,
    typer.Option("--fail-on-slower", metavar="PERCENT", help="Exit 1 only if a cell is surely slower by more."),
]
FormatOption = Annotated[str, typer.Option("--format", help="table or markdown.")]


def compare(
    context: typer.Context,
    a: SideArgument,
    b: SideArgument,
    figure: FigureOption = "",
    margin: MarginOption = "1%",
    fail_on_slower: SlowerOption = None,
    format: FormatOption = "table",
    json: JsonOption = False,
) -> None:
    """Compare every two cells that differ only in the fields named; exit 1 if B is slower anywhere."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    equal = _share("--margin", margin)
    allowed = None if fail_on_slower is None else _share("--fail-on-slower", fail_on_slower)
    details = json or format != "table"
    found = find_sides(a, b, store_location(context), figure, details=details)
    question = question_of((side for pair in found.pairs for side in pair), figure, equal)
    if allowed is not None and not question.is_rate:
        raise NetdynoError(f"--fail-on-slower: expected a figure that is a rate, received {question.figure}.")
    compared = compare_all(found.pairs, question)
    shown = Shown(a=a, b=b, compared=tuple(compared), overall=overall(compared, question), question=question)
    _print(shown, "json" if json else format)
    _talk(found, compared)
    worse = [one for one in compared if question.worse and one.comparison.verdict == question.worse]
    if worse if allowed is None else find_smaller(compared, allowed):
        raise typer.Exit(1)


def _print(shown: Shown, form: str) -> None:
    if form == "json":
        print_json(_as_json(shown))
    elif form == "markdown":
        typer.echo(comparison_markdown(shown), nl=False)
    else:
        for part in comparison_parts(shown):
            data_console().print(part)


def _talk(found: Sides, compared: list[Compared]) -> None:
    """What a reader of the exit code alone should know."""
    unjudged = [one for one in compared if not one.evidence.is_judged]
    if unjudged:
        reason = unjudged[0].comparison.reason
        talk_console().print(f"{len(unjudged)} of {len(compared)} cannot be judged: {reason}.")
    if found.repeated:
        talk_console().print(f"Left out: {found.repeated} that are the same runs on both sides.")


def _share(option: str, text: str) -> float:
    """A percentage as a share."""
    match = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*%\s*", text, re.ASCII)
    if match is None or float(match[1]) >= 100:
        raise NetdynoError(f"{option}: expected a percentage from 0% to under 100%, such as 3%, received '{text}'.")
    return float(match[1]) / 100


def _as_json(shown: Shown) -> dict[str, Any]:
    whole = shown.overall
    return {
        "figure": shown.question.figure,
        "unit": shown.question.unit,
        "margin": shown.question.margin,
        "comparisons": [_one_as_json(one) for one in shown.compared],
        "overall": None if whole is None else {**asdict(whole.comparison), "cells": whole.cells},
    }


def _one_as_json(one: Compared) -> dict[str, Any]:
    return {"a": _side_as_json(one.a), "b": _side_as_json(one.b), **asdict(one.comparison)}


def _side_as_json(side: Side) -> dict[str, Any]:
    own = {"machine": side.machine, "series": side.series, "verdict": side.verdict}
    return {**side.cell.as_dict(), **own, "figure": to_builtins(side.estimate), "runs": list(side.values)}


app = one_command(
    compare,
    """
    netdyno compare execution=eager execution=compiled
    netdyno compare before.jsonl after.jsonl --fail-on-slower 3%
    """,
)
