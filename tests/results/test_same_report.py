"""An export that was imported elsewhere gives the very same page, in a file and on a server."""

from tests.report.pages import runs_of

from netdyno.cli.report import Asked, page_text
from netdyno.results.exchange.files import EXPORTS, export_file
from netdyno.results.exchange.merge import merge
from netdyno.results.exchange.selection import Selection
from netdyno.results.store import open_store

TRACES = [
    {"power_w": [[0.1 * place, 500.0 + place] for place in range(20)]},
    {"host_memory_bytes": [[0.1 * place, 1e9] for place in range(20)], "busy_cores": [[0.0, 1.0]] * 20},
]


def test_an_imported_export_gives_the_same_page(location, tmp_path):
    export = tmp_path / "export.json"
    with open_store(str(tmp_path / "origin.sqlite")) as origin:
        for number, framework in enumerate(("pytorch-2", "jax", "mxnet-1.2", "a framework", "Ärmel", "zebra")):
            for record in runs_of(framework=framework, trace=TRACES[number % 2], seed=number):
                origin.add(record)
        export_file(Selection(store=origin), EXPORTS["json"], export)
        page = page_text(Asked(store=origin, reference=True), print)
    with open_store(location) as other:
        assert merge(other, [export]).new["records"] > 0
        assert page_text(Asked(store=other, reference=True), print) == page
