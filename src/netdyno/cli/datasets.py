"""netdyno datasets: which datasets there are and where they lie; getting them, and converting between formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from netdyno.cli.command import several_commands
from netdyno.cli.options import threads_of
from netdyno.data.catalog import Dataset, datasets, find_dataset
from netdyno.data.codecs.files import as_one_line
from netdyno.data.convert import Converted, Target, convert_split
from netdyno.data.fetch import get as get_dataset
from netdyno.data.formats.registry import format_in, format_to_write, open_split, written_formats
from netdyno.data.item import SPLITS, Source, left_out_of, subset_of
from netdyno.data.places import folder_of, open_dataset, present
from netdyno.devices.machine import describe_machine
from netdyno.errors import NetdynoError, unknown
from netdyno.frameworks.home import home, home_path
from netdyno.report.terminal.console import data_console, print_json, talk_console
from netdyno.report.terminal.datasets import Following, datasets_table

app = several_commands(help="List the datasets and where they are on this machine; get or convert some.")
FORMATS = f"A format: {', '.join(written_formats())}."
CountOption = Annotated[int | None, typer.Option(min=1, help="Only so many images of each split, spread evenly.")]
SizeOption = Annotated[
    int | None, typer.Option(min=1, help="For formats of pixels: shorter side to N, then the centre N×N.")
]


@app.callback(invoke_without_command=True)
def list_datasets(
    context: typer.Context, as_json: bool = typer.Option(False, "--json", help="Print JSON, not a table.")
) -> None:
    """List the datasets: their images, and in which formats they are here."""
    if context.invoked_subcommand is not None:
        return
    with as_one_line(home_path()):
        rows = [describe(dataset) for dataset in datasets().values()]
    if as_json:
        print_json(rows)
    else:
        data_console().print(datasets_table(rows, home_path()))
        talk_console().print(f"Places are under {home_path()}.", markup=False)


@app.command("get")
def get(
    name: Annotated[str, typer.Argument(help="A dataset's name.")],
    given: Annotated[Path | None, typer.Option("--from", help="A folder that has it already.")] = None,
    to: Annotated[str | None, typer.Option(help=f"Convert it too. {FORMATS}")] = None,
    size: SizeOption = None,
    count: CountOption = None,
) -> None:
    """Bring a dataset here, checked; from a folder, or from its public mirrors."""
    dataset = find_dataset(name)
    if to is not None:
        format_to_write(to)
    if dataset.drawn and given is not None:
        raise NetdynoError(f"{name} is drawn: expected no --from, received {given}.")
    with as_one_line(given or home_path()):
        sources = _sources_of(dataset, (), count) if dataset.drawn else _got(dataset, given, to, count)
        _convert(sources, _target(to or "packed", folder_of(home(), name, to or "packed"), size))


@app.command("convert")
def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A dataset's name, or a folder with one (./mnist).")],
    to: Annotated[str, typer.Option(help=FORMATS)],
    out: Annotated[Path | None, typer.Option(help="Where to; a place of netdyno's, or beside the folder.")] = None,
    size: SizeOption = None,
    split: Annotated[list[str] | None, typer.Option(help="train or test; both if not said. May be repeated.")] = None,
    count: CountOption = None,
) -> None:
    """Write a dataset in another format: on all cores, and continued if it was stopped."""
    format_to_write(to)
    for wanted in split or ():
        if wanted not in SPLITS:
            raise unknown("split", wanted, SPLITS)
    with as_one_line(Path(source)):
        if source in datasets():
            place, sources = folder_of(home(), source, to), _sources_of(find_dataset(source), split or (), count)
        else:
            folder = Path(source)
            if not folder.is_dir():
                raise unknown("folder or dataset", source, datasets())
            place = folder.absolute().with_name(f"{folder.absolute().name}-{to}")
            sources = _sources_in(folder, split or (), count)
            for name, found in sources.items():
                _say_left_out(name, left_out_of(found))
        _convert(sources, _target(to, out or place, size))


def describe(dataset: Dataset) -> dict[str, Any]:
    """One dataset as plain data: what it is, and where it lies here."""
    here = present(home_path(), dataset.name)
    return {
        "name": dataset.name,
        "splits": dict(dataset.counts),
        "shape": list(dataset.shape),
        "classes": len(dataset.classes),
        "drawn": dataset.drawn,
        "published": bool(dataset.files),
        "here": [
            {"format": at.format, "folder": str(at.folder), "splits": list(at.splits), "bytes": at.find_bytes()}
            for at in here
        ],
    }


def _got(dataset: Dataset, given: Path | None, to: str | None, count: int | None) -> dict[str, Source]:
    """Get a dataset, and open what is to be converted."""
    with Following(talk_console(), dataset.name) as following:
        got = get_dataset(dataset, home(), given, following.bytes_came)
    print(f"{dataset.name}: {got.folder} ({got.origin})")
    for split, left_out in got.left_out.items():
        _say_left_out(split, left_out)
    return _sources_in(got.folder, (), count) if to is not None else {}


def _say_left_out(split: str, left_out: Mapping[str, int]) -> None:
    for what, number in left_out.items():
        talk_console().print(f"{split}: left out {number:,} {what}", markup=False)


def _sources_of(dataset: Dataset, splits: Sequence[str], count: int | None) -> dict[str, Source]:
    """By split; those that are here, unless some were asked for."""
    here = {split for place in present(home(), dataset.name) for split in place.splits}
    if dataset.drawn or not here:
        here = set(dataset.counts)
    wanted = splits or [split for split in SPLITS if split in here]
    return {split: _part(open_dataset(home(), dataset, split), count) for split in wanted}


def _sources_in(folder: Path, splits: Sequence[str], count: int | None) -> dict[str, Source]:
    wanted = splits or format_in(folder).find(folder)
    return {split: _part(open_split(folder, split), count) for split in wanted}


def _part(source: Source, count: int | None) -> Source:
    return source if count is None else subset_of(source, min(count, source.about.count))


def _target(to: str, folder: Path, size: int | None) -> Target:
    return Target(format=to, folder=folder, size=size, processes=threads_of(describe_machine()))


def _convert(sources: dict[str, Source], target: Target) -> None:
    """Every split, with a line on stdout for each."""
    for split, source in sources.items():
        done = _convert_one(source, split, target)
        if done is None:
            print(f"{split}: {target.folder} has it already")
            continue
        begun = f", continued behind {done.begun_at:,}" if done.begun_at else ""
        cut = f", each cut to {target.size}×{target.size}" if target.size else ""
        print(f"{split}: {done.count:,} images{cut} in {target.folder}, {done.items_per_s:,.0f} a second{begun}")


def _convert_one(source: Source, split: str, target: Target) -> Converted | None:
    with Following(talk_console(), f"{split} as {target.format}") as following:

        def progress(done: int, per_s: float) -> None:
            following.items_written(done, per_s, source.about.count)

        return convert_split(source, split, target, progress)
