"""The figures of a thesis of 2018 (five frameworks, nine networks, five machines) as values, bars and charts.

Its whole appendix A is bundled; `appendix.py` writes it as LaTeX and charts.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from netdyno.frameworks.spec import specs
from netdyno.report.charts import Bar, Chart, bar_chart
from netdyno.report.charts.palette import family

FILE = "piccione2018.csv"
SOURCE = (
    "A. Piccione, Introduction to Deep Learning: a practical point of view,"
    " Universitat Politècnica de València, 2018, appendix A"
)
SHORT_SOURCE = "Piccione 2018, appendix A"
ERA = "2018"
METRICS = {"training_speed": "speed", "gpu_memory": "memory", "gpu_power": "power"}  # column of the file → name here
TITLES = {"speed": "Training speed", "memory": "GPU memory", "power": "GPU power"}
BETTER = {"speed": ", more is better", "memory": ", less is better", "power": ""}
NO_FIGURE = "no implementation in 2018"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A mean of three runs; None where the thesis had no implementation. Dataset and network have our zoo's names."""

    metric: str  # speed, memory or power
    unit: str
    dataset: str
    network: str
    framework: str  # as the thesis calls it
    version: str
    hardware: str
    batch: int
    value: float | None

    @property
    def family(self) -> str:
        """The framework's family in our specs."""
        return self.framework.lower()

    @property
    def name(self) -> str:
        return f"{self.framework} {self.version}"

    @property
    def on_gpu(self) -> bool:
        return "Tesla" in self.hardware


@cache
def published_figures() -> tuple[PublishedFigure, ...]:
    """All of appendix A, in its order."""
    text = resources.files("netdyno").joinpath("reference", FILE).read_text(encoding="utf-8")
    return tuple(_figure(row) for row in csv.DictReader(text.splitlines()))


def cases() -> list[tuple[str, str]]:
    """Its datasets and networks, in its order."""
    return list(dict.fromkeys((figure.dataset, figure.network) for figure in published_figures()))


def caveats() -> tuple[str, ...]:
    """What a reader must know before comparing a figure of 2018 with one of today."""
    figures = published_figures()
    versions = ", ".join(dict.fromkeys(figure.name for figure in figures))
    batches = {(f.dataset, f.network): f.batch for f in figures}
    small = sorted({network for (_, network), batch in batches.items() if batch < 64})
    return (
        f"Source: {SOURCE}. Means of three runs, published without intervals.",
        f"Other versions: {versions}, with CUDA 9 and cuDNN 7.1.",
        "Other machines: one or two Tesla K20m (5 GB) or P100 (16 GB); processors of 12 cores, for ImageNet of 20.",
        f"Smaller batches, since a K20m had to hold them: {min(batches.values())} images of ImageNet for"
        f" {', '.join(small)}; divided among the GPUs.",
        "Other networks under the same names: each framework's own implementation, not proved equal, fed from disk;"
        " the speed is what each framework's own output said.",
        "Memory and power are means of what nvidia-smi showed once a second from start to end, so that building and"
        " reading count too; in runs on a processor they are those of an idle GPU.",
    )


def reference_bars(metric: str, dataset: str, network: str) -> list[Bar]:
    """The published bars of one case, for a chart with today's; none for a case that was not published.

    Memory and power have no bars of runs on a processor. A missing implementation is shown on the first machine only.
    """
    found = [f for f in published_figures() if (f.metric, f.dataset, f.network) == (metric, dataset, network)]
    shown = _by_hardware(f for f in found if f.on_gpu or metric == "speed")
    return [_bar(f) for f in shown if f.value is not None or f.hardware == shown[0].hardware]


def reference_charts(dataset: str, network: str, today: Mapping[str, Sequence[Bar]] | None = None) -> list[Chart]:
    """Speed, memory and power of one case in 2018, below today's bars of the same figure if there are any."""
    charts = []
    for metric, title in TITLES.items():
        bars = reference_bars(metric, dataset, network)
        if bars:
            unit = next(figure.unit for figure in published_figures() if figure.metric == metric)
            name = f"{title}, {network} on {dataset}"
            shown = [*(today or {}).get(metric, ()), *bars]
            is_less = "less" in BETTER[metric]
            charts.append(bar_chart(shown, title=name, axis=unit + BETTER[metric], least_first=is_less))
    return charts


def _figure(row: Mapping[str, str]) -> PublishedFigure:
    return PublishedFigure(
        metric=METRICS[row["metric"]],
        unit=row["unit"],
        dataset=row["dataset"].lower(),
        network=row["network"].lower(),
        framework=row["framework"],
        version=row["framework_version"],
        hardware=row["hardware"],
        batch=int(row["batch_size"]),
        value=float(row["value"]) if row["value"] else None,
    )


def _by_hardware(figures: Iterable[PublishedFigure]) -> list[PublishedFigure]:
    found = list(figures)
    order = list(dict.fromkeys(figure.hardware for figure in found))
    return sorted(found, key=lambda figure: order.index(figure.hardware))


def _bar(figure: PublishedFigure) -> Bar:
    return Bar(
        group=f"{ERA}: {figure.hardware.replace('x ', ' × ')}, batch {figure.batch}",
        framework=_spec_of(figure.family),
        name=figure.name,
        value=figure.value,
        note="" if figure.value is not None else NO_FIGURE,
    )


@cache
def _spec_of(family_name: str) -> str:
    """The spec of that family and time, whose look the bar gets."""
    return next(
        (name for name, spec in specs().items() if family(name) == family_name and spec.era == ERA), family_name
    )
