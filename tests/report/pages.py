"""Results and pages made up for the tests of the report."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
from msgspec.structs import replace
from tests.results.samples import draw_runs, make_cell, make_record, make_samples

from netdyno.report.page.page import Contents, make_page
from netdyno.results.figure import Figure
from netdyno.results.record import Record
from netdyno.results.result import results_of

GPU = {"gpus": [{"name": "NVIDIA H200"}], "cpu": "AMD EPYC 9354 32-Core Processor", "load": 0.5}
HOST = {"cpu": "AMD EPYC 9354 32-Core Processor", "physical_cores": 32, "usable_cores": 32.0, "load": 0.5}

# What a name must be able to hold without anything happening.
HOSTILE = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "'\"><svg onload=window.hacked=1>",
    "{{ 7*7 }}${7*7}<%= 7*7 %>",
    "javascript:window.hacked=1//",
    "&lt;b&gt; & \u2028\u2029 \x07 end",
    "\u202emalicious\u202c עברית العربية",
    "🔥🧠 " + "very-long-name-" * 40,
    "=HYPERLINK(\"http://example.org\")",
    "`backtick` ${window.hacked=1} \\u003cscript\\u003e",
)  # fmt: skip


def runs_of(step_s: float = 0.01, *, runs: int = 3, seed: int = 1, **changes: Any) -> list[Record]:
    """The records of one cell; `changes` are of the cell where it has such a field, else of the record."""
    names = make_cell().as_dict()
    cell = make_cell(**{name: value for name, value in changes.items() if name in names})
    rest = {name: value for name, value in changes.items() if name not in names}
    environment = rest.pop("environment", HOST if cell.device == "cpu" else GPU)
    drawn = draw_runs(np.random.default_rng(seed), runs, step_s=step_s, run_noise=0.001, block_noise=0.002)
    return [
        make_record(
            cell, number=number, samples=make_samples(run), environment=environment, host_peak_bytes=2**28,
            id=f"{cell.key()} {number} {rest.get('machine')} {rest.get('series')}", **rest,
        )
        for number, run in enumerate(drawn, 1)
    ]  # fmt: skip


def with_figure(records: list[Record], figure: Figure) -> list[Record]:
    """The runs with one figure more."""
    return [replace(record, figures={**record.figures, figure.name: figure}) for record in records]


def served(framework: str, delay_ms: float, queue_bytes: float = 3 * 2**20, **changes: Any) -> list[Record]:
    """Runs of a workload that the report does not know, with figures that it does not know; nothing was timed."""
    figures = [
        Figure("queue", "bytes", "none", queue_bytes),
        Figure("reply_delay", "ms", "less", delay_ms),
    ]
    return [
        replace(record, samples=(), figures={figure.name: figure for figure in figures}, headline="reply_delay")
        for record in runs_of(framework=framework, workload="serve", **changes)
    ]


def failure(reason: str, **changes: Any) -> Record:
    """A run without a measurement."""
    return make_record(make_cell(**changes), outcome="failed", reason=reason, samples=(), environment=HOST)


def page_of(records: list[Record], **more: Any) -> str:
    return make_page(Contents(results=results_of(records), **more)).html


def data_of(page: str) -> dict[str, Any]:
    """What the page's script reads."""
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert block
    return dict(json.loads(block[1]))


class Outline(HTMLParser):
    """The tags of a page in their order, with their attributes, and the text that is shown."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._shown: list[str] = []
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")
        self._shown.append("" if tag in ("bdi", "span", "a", "small") else " ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._shown.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._shown).split())
