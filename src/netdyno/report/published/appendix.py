"""Appendix A of the thesis as LaTeX tables and as charts, from the bundled figures."""

from collections.abc import Sequence
from pathlib import Path

from netdyno.report.charts import write_chart
from netdyno.report.published.thesis import (
    SHORT_SOURCE,
    TITLES,
    PublishedFigure,
    cases,
    caveats,
    published_figures,
    reference_charts,
)

ENDINGS = (".svg", ".png")
MISSING = "--"
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "×": r"$\times$",
}  # fmt: skip


def appendix_latex() -> str:
    """A table for each figure, dataset and network, in the thesis's order, after the caveats."""
    parts = ["% Needs \\usepackage[utf8]{inputenc} and \\usepackage{booktabs}."]
    parts += [f"\\noindent {escaped(line)}\\par" for line in caveats()]
    for metric in TITLES:
        parts += [_table(metric, dataset, network) for dataset, network in cases()]
        parts.append("\\clearpage")
    return "\n\n".join(parts) + "\n"


def appendix_charts(folder: Path) -> list[Path]:
    """Write every table of the appendix as a chart, as SVG and as PNG; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for dataset, network in cases():
        for metric, chart in zip(TITLES, reference_charts(dataset, network), strict=True):
            for ending in ENDINGS:
                written.append(folder / f"{metric}-{dataset}-{network}{ending}")
                write_chart(chart, written[-1])
    return written


def escaped(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _table(metric: str, dataset: str, network: str) -> str:
    figures = [f for f in published_figures() if (f.metric, f.dataset, f.network) == (metric, dataset, network)]
    hardware = list(dict.fromkeys(figure.hardware for figure in figures))
    first = figures[0]
    caption = f"{TITLES[metric]} in {first.unit}: {network} on {dataset}, batch {first.batch} ({SHORT_SOURCE})."
    rows = [_row(name, figures, hardware) for name in dict.fromkeys(figure.name for figure in figures)]
    return "\n".join([
        "\\begin{table}[htbp]",
        "  \\centering",
        f"  \\caption{{{escaped(caption)}}}",
        f"  \\label{{tab:2018-{metric}-{dataset}-{network}}}",
        f"  \\begin{{tabular}}{{l{'r' * len(hardware)}}}",
        "    \\toprule",
        f"    Framework & {' & '.join(_heading(machine) for machine in hardware)} \\\\",
        "    \\midrule",
        *rows,
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
    ])  # fmt: skip


def _row(name: str, figures: Sequence[PublishedFigure], hardware: Sequence[str]) -> str:
    values = {figure.hardware: figure.value for figure in figures if figure.name == name}
    return f"    {escaped(name)} & {' & '.join(_number(values.get(machine)) for machine in hardware)} \\\\"


def _heading(machine: str) -> str:
    """Short enough for five columns: the maker is in the caveats."""
    short = machine.removeprefix("Intel ").replace("Tesla ", "").replace("x ", " × ")
    return escaped(short.replace(" cores)", ")").replace("(", "× ").replace(")", "") if "cores" in short else short)


def _number(value: float | None) -> str:
    """Thousands separated by a thin space, which no language reads as a decimal point."""
    return MISSING if value is None else f"{value:,.0f}".replace(",", r"\,")
