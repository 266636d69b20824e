"""Results as CSV: a row for each, written as they come."""

import csv
from typing import Any, BinaryIO

from netdyno.results.export_columns import COLUMNS, row_of
from netdyno.results.selection import Selection

# With these a spreadsheet takes a text for a formula and runs it; an apostrophe before it keeps it a text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(selection: Selection, file: BinaryIO) -> int:
    """How many results were written. UTF-8, comma, a line feed after each row."""
    writer = csv.writer(_Encoding(file), lineterminator="\n")
    writer.writerow(COLUMNS)
    proofs, count = selection.store.proofs(), 0
    for result in selection.results():
        row = row_of(result, proofs)
        writer.writerow([_cell(row[name]) for name in COLUMNS])
        count += 1
    return count


class _Encoding:
    """What csv writes to, in a file of bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode("utf-8", "replace"))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
