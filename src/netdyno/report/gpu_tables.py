"""What was measured on a GPU: speed, memory, power and energy of each cell in one line of 100 columns."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from netdyno.report.footnotes import Footnotes
from netdyno.report.tables import new_table, results_table, verdict
from netdyno.results.result import Result
from netdyno.results.utilisation import nominal_peak, utilisation
from netdyno.results.words import margin, number

SHORT = {
    "float32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "cudagraph": "graph",
    "compiled-cudagraph": "compiled+graph",
}
NUMBERS = ("images/s", "95 %", "MiB", "W", "J/image", "MFU")


def results_tables(results: Sequence[Result]) -> list[RenderableType]:
    """What was measured on the CPU, then what on a GPU, which has more to tell."""
    on_gpu = [result for result in results if result.cell.device != "cpu"]
    on_cpu = [result for result in results if result.cell.device == "cpu"]
    notes = Footnotes()
    parts: list[RenderableType] = [results_table(on_cpu, notes)] if on_cpu or not on_gpu else []
    parts += ["", *gpu_results(on_gpu, notes)] if parts and on_gpu else gpu_results(on_gpu, notes)
    return [*parts, "", notes.lines()] if notes.lines() else parts


def gpu_results(results: Sequence[Result], notes: Footnotes) -> list[RenderableType]:
    """A table for each framework.

    MiB are in use for tensors, MFU is the model's FLOP/s over the nominal peak of the device at that precision.
    """
    parts: list[RenderableType] = []
    for framework in dict.fromkeys(result.cell.framework for result in results):
        table = new_table(framework, "how", *NUMBERS, "verdict", right=NUMBERS)
        for result in results:
            if result.cell.framework == framework:
                cell = result.cell
                table.add_row(f"{cell.network}/{cell.dataset} b{cell.batch}", _how(result), *_numbers(result, notes))
        parts += ["", table] if parts else [table]
    return parts


def _numbers(result: Result, notes: Footnotes) -> list[str | Text]:
    readings = result.readings
    mebibytes = "–" if result.device_peak_bytes is None else f"{result.device_peak_bytes / 2**20:,.0f}"
    watts, joules = readings.get("mean_w"), readings.get("j_per_item")
    return [
        number(result.head.value if result.head else None),
        margin(result.head),
        mebibytes,
        "–" if watts is None else f"{watts:.0f}",
        "–" if joules is None else f"{joules:.3g}",
        _share(result),
        verdict(result, notes),
    ]


def _how(result: Result) -> str:
    """Precision and execution; a star where a look at all executions chose it."""
    cell = result.cell
    chosen = {record.settings.get("execution", "") for record in result.measured} - {""}
    execution = f"{SHORT.get(min(chosen), min(chosen))}*" if chosen else SHORT.get(cell.execution, cell.execution)
    return f"{SHORT.get(cell.precision, cell.precision)} {execution}"


def _share(result: Result) -> str:
    if not result.measured:
        return "–"
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), None)
    return "–" if found is None or found.of_nominal is None else f"{found.of_nominal:.0%}"
