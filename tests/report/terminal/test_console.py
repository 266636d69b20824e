"""Nothing that was stored or typed is obeyed by the terminal: no markup, no escape, no turned direction."""

import pytest
from rich.text import Text
from tests.report.pages import runs_of
from tests.results.samples import make_cell, make_record

from netdyno.report.terminal.availability import availability
from netdyno.report.terminal.conclusion import conclusion
from netdyno.report.terminal.console import data_console, say, say_error, talk_console
from netdyno.report.terminal.proofs import proof_matrix, proof_remarks, proofs_table
from netdyno.report.terminal.tables import new_table, results_tables
from netdyno.report.terminal.threads import thread_tables
from netdyno.results.proof import Proof
from netdyno.results.result import results_of
from netdyno.results.store import open_store

HOSTILE = [
    "[/b]",
    "[link=http://x]lenet[/link]",
    "[red]lenet",
    ":smile:",
    "a\x1b[2Jb",
    "\u202etenel",
    "\x9b31m",
    "\udcff",
]
OBEYED = "\x1b\x9b\u202e\udcff"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("make", [str, Text, lambda name: new_table(name)], ids=["text", "Text", "heading"])
def test_what_is_printed_is_seen_as_it_is(capsys, name, make):
    data_console().print(make(name))
    out = capsys.readouterr().out
    assert _harmless(name) in out
    assert not set(out) & set(OBEYED)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_table_shows_a_hostile_name(capsys, name):
    records = [
        record
        for threads in (1, 2)
        for record in runs_of(network=name, framework=name, dataset=name, threads=threads)
    ]
    results = results_of(records)
    proof = Proof(framework=name, network=name, dataset=name, device="cpu", precision="float32", execution="eager",
                  reason=name, machine="here", proved_at="2026-11-15T09:00:00+00:00")  # fmt: skip
    parts = [
        *results_tables(results), *availability([r.cell for r in results], results, {}), *thread_tables(results, ()),
        proofs_table([proof]), Text("\n").join([*proof_remarks([proof])]), proof_matrix([proof], {name: name})[0],
        proof_matrix([proof], {name: name})[-1], conclusion(results),
    ]  # fmt: skip
    for part in parts:
        data_console().print(part)
        out = capsys.readouterr().out
        assert not set(out) & set(OBEYED)
        assert not out.strip() or _harmless(name) in out or part is parts[-1]


def test_a_cell_of_a_table_is_one_line(capsys):
    table = new_table("network")
    table.add_row("lenet\n  fake row")
    data_console().print(table)
    assert "lenet fake row" in capsys.readouterr().out


@pytest.mark.parametrize("name", HOSTILE)
def test_a_status_line_is_no_markup(capsys, name):
    status = talk_console().status(name)
    status.update(f"now {name}")
    data_console().print(status.renderable)
    out = capsys.readouterr().out
    assert f"now {_harmless(name)}" in out
    assert not set(out) & set(OBEYED)


def test_single_lines_are_harmless_too(capsys):
    say("a \x1b[31m\u202e\udcff\nb")
    say_error("c \x1b[31m\u202e\udcff\nd")
    found = capsys.readouterr()
    assert found.out == "a \ufffd[31m\ufffd\ufffd b\n"
    assert found.err == "error: c \ufffd[31m\ufffd\ufffd d\n"


def test_a_store_with_any_name_is_shown(netdyno, tmp_path):
    with open_store(str(tmp_path / "a.db")) as store:
        for place, name in enumerate(("[/b]", "[link=a]lenet[/link]", "\u202etenel")):
            store.add(make_record(make_cell(network=name), id=f"r{place}"))
    done = netdyno("--store", str(tmp_path / "a.db"), "results")
    assert done.returncode == 0, done.stderr
    assert "[/b]/mnist" in done.stdout
    assert "[link=a]lenet[/link]" in done.stdout
    assert "\ufffdtenel" in done.stdout


def _harmless(name: str) -> str:
    return "".join("\ufffd" if character in OBEYED else character for character in name)
