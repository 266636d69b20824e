"""The formats of exports, and the file that holds one."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from netdyno.errors import NetdynoError, unknown
from netdyno.files import replacing
from netdyno.results.exchange.documents import write_latex, write_markdown
from netdyno.results.exchange.lines import write_lines
from netdyno.results.exchange.mlperf import write_mlperf
from netdyno.results.exchange.selection import Selection
from netdyno.results.exchange.tabular import write_csv, write_parquet


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """`write` puts a selection into a file and says how many `things` that were."""

    write: Callable[[Selection, BinaryIO], int]
    things: str
    suffixes: tuple[str, ...]
    is_text: bool = True


EXPORTS: Mapping[str, Exporter] = {
    "csv": Exporter(write=write_csv, things="results", suffixes=(".csv",)),
    "json": Exporter(write=write_lines, things="records", suffixes=(".jsonl", ".json")),
    "markdown": Exporter(write=write_markdown, things="results", suffixes=(".md", ".markdown")),
    "latex": Exporter(write=write_latex, things="results", suffixes=(".tex",)),
    "parquet": Exporter(write=write_parquet, things="results", suffixes=(".parquet",), is_text=False),
    "mlperf": Exporter(write=write_mlperf, things="runs", suffixes=(".log",)),
}


def find_exporter(name: str) -> Exporter:
    """The exporter of a format."""
    if name not in EXPORTS:
        raise unknown("format", name, EXPORTS)
    return EXPORTS[name]


def format_of(path: Path) -> str | None:
    """The format that a file's name ends with, before any `.gz`."""
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    return next((name for name, exporter in EXPORTS.items() if suffix.lower() in exporter.suffixes), None)


def export(selection: Selection, exporter: Exporter, file: BinaryIO) -> int:
    """Write a selection and count it. A selector that names nothing is a mistake, an empty store is not."""
    count = exporter.write(selection, file)
    if not count and selection.selector:
        raise NetdynoError(f"no result matches '{selection.selector}'.", hint="See all of them: netdyno results")
    return count


def export_file(selection: Selection, exporter: Exporter, path: Path) -> int:
    """Write a file, compressed if its name ends in .gz; an older one stays until the new one is complete."""
    with replacing(path) as file:
        if path.suffix != ".gz":
            return export(selection, exporter, file)
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
            return export(selection, exporter, packed)  # type: ignore[arg-type]
