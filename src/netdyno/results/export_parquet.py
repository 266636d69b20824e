"""Results as Parquet: the columns of the CSV with their types, in groups of rows."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

from netdyno.errors import NetdynoError
from netdyno.results.export_columns import COLUMNS, row_of
from netdyno.results.selection import Selection

ROWS_IN_A_GROUP = 10_000


def write_parquet(selection: Selection, file: BinaryIO) -> int:
    """How many results were written; one group of them is in memory at a time."""
    arrow, parquet = _pyarrow()
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    schema = arrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    count = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _groups(selection):
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def _groups(selection: Selection) -> Iterator[list[dict[str, Any]]]:
    proofs, rows = selection.store.proofs(), list[dict[str, Any]]()
    for result in selection.results():
        rows.append(row_of(result, proofs))
        if len(rows) == ROWS_IN_A_GROUP:
            yield rows
            rows = []
    if rows:
        yield rows


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        hint = "Install it: pip install 'netdyno[parquet]'."
        raise NetdynoError("Parquet needs pyarrow, which is missing.", hint=hint) from error
