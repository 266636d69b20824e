"""Whatever a name holds, its table compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.results.exports import exported
from tests.results.samples import make_cell, make_record

from netdyno.results.exchange.latex import latex
from netdyno.results.store import open_store

ODD = [
    "[/b]",
    "*",
    '"',
    "\u202e",
    "😀",
    "\x07",
    "\\write18{ls}",
    "100 % & $5_{x}^~#",
    "café Łódź ş",
    "漢字",
    "?`!`",
    "]",
    "a\0b",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[2cm]", "{[}2cm{]}"),
        ("*", "{*}"),
        ('say "x"', "say ''x''"),
        ("a\u202eb", "a{[}U+202E{]}b"),
        ("😀", "{[}U+1F600{]}"),
        ("\x1b", "{[}U+001B{]}"),
        ("é š ï e\u0301", r"\'{e} \v{s} \"{\i{}} \'{e}"),
        ("\\def\\x{}", r"\textbackslash{}def\textbackslash{}x\{\}"),
        ("±5 % → 3×", r"$\pm$5 \% $\to$ 3$\times$"),
    ],
)
def test_a_text_becomes_exactly(text: str, expected: str) -> None:
    assert latex(text) == expected


@given(st.text())
def test_any_text_is_ascii_with_balanced_braces_and_no_character_of_meaning(text: str) -> None:
    found = latex(text)
    assert found.isascii()
    assert "\n" not in found
    bare = re.sub(r"\\([a-z]+|[&%$#_{}`'^~=.\"])", "", found)  # commands, escaped characters and accents
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not re.search(r"[%#_&\\]", bare)
    assert not re.search(r"(?<!\{)[\[*]", bare)


def test_a_row_never_begins_with_what_belongs_to_the_line_before(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        for place, name in enumerate(ODD):
            store.add(make_record(make_cell(network=name), id=f"r{place}", reason="x" * 99_999))
        text = exported(store, "latex").decode("ascii")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(ODD) + 1
    assert not [row for row in rows if row.lstrip().startswith(("[", "*"))]
    assert max(map(len, text.splitlines())) < 50_000  # TeX reads lines of at most 200,000


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="needs pdflatex; on Debian: apt install texlive-latex-extra"
)
def test_tables_of_odd_names_compile(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "a.db")) as store:
        for place, name in enumerate([*ODD, "".join(map(chr, range(1, 0x2000))) * 2]):
            store.add(make_record(make_cell(network=name), id=f"r{place}", outcome="failed", reason=name, samples=()))
        table = exported(store, "latex").decode()
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{table}\end{{document}}"
    (tmp_path / "a.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
