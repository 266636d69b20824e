"""How large is a report, how long does it take, and how soon can one use it? Over records drawn by seed.

    python benchmarks/report_size.py [--records 1000 100000] [--keep FOLDER]

Every framework and network there is, on a CPU and a GPU, in several precisions and batches; three runs of each cell,
10 to 40 blocks a run, one run in forty without a measurement. The page is then opened in headless Chromium.
"""

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright
from sqlalchemy import create_engine, insert
from tests.results.figures import train_figures

from netdyno.frameworks.spec import specs
from netdyno.results.cell import Cell
from netdyno.results.record import Record, Sample
from netdyno.results.store import open_store
from netdyno.results.store.rows import to_row
from netdyno.results.store.tables import RUNS
from netdyno.zoo.catalog import entries

RUNS_EACH = 3
CHUNK = 1000
START = datetime(2026, 11, 1, tzinfo=UTC)
HOST = {
    "cpu": "AMD EPYC 9354 32-Core Processor", "physical_cores": 32, "logical_cores": 64, "usable_cores": 64.0,
    "memory_bytes": 2**38, "system": "Debian GNU/Linux 12", "kernel": "6.1.0", "hypervisor": "", "container": "",
}  # fmt: skip
GPU = {"name": "NVIDIA H200", "memory_bytes": 150_754_820_096, "driver": "580.159.04", "power_cap_w": 700.0}
BATCHES = (128, 64, 256, 32, 512, 16, 1024, 8, 2048, 4096)
MANNERS = [
    ("cuda", "float32", 32), ("cpu", "float32", 32), ("cpu", "float32", 8), ("cuda", "bfloat16", 32),
    ("cuda", "tf32", 32), ("cpu", "float32", 1), ("cpu", "float32", 16), ("cuda", "float16", 32),
    ("cpu", "float32", 4), ("cpu", "float32", 2),
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one report came to."""

    records: int
    build_s: float
    peak_mib: float
    page_mb: float
    ready_s: float
    search_s: float


def main() -> None:
    options = read_options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = [measure(folder, count) for count in options.records]
    print(f"{'records':>9} {'build s':>8} {'peak MiB':>9} {'page MB':>8} {'usable after s':>15} {'search s':>9}")
    for seen in found:
        print(
            f"{seen.records:>9,} {seen.build_s:>8.1f} {seen.peak_mib:>9,.0f} {seen.page_mb:>8.2f} "
            f"{seen.ready_s:>15.2f} {seen.search_s:>9.2f}"
        )


def measure(folder: Path, count: int) -> Seen:
    store, page = folder / f"{count}.sqlite", folder / f"{count}.html"
    if not store.exists():
        write_store(store, count)
    build_s, peak_mib = built(store, page)
    ready_s, search_s = opened(page)
    return Seen(
        records=count,
        build_s=build_s,
        peak_mib=peak_mib,
        page_mb=page.stat().st_size / 1e6,
        ready_s=ready_s,
        search_s=search_s,
    )


def write_store(path: Path, count: int) -> None:
    """Straight into the table: a store makes each record durable before it takes the next, not asked here."""
    open_store(str(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    stream = itertools.islice(records(np.random.default_rng(count)), count)
    with engine.begin() as connection:
        while chunk := list(itertools.islice(stream, CHUNK)):
            connection.execute(insert(RUNS), [to_row(record) for record in chunk])
    engine.dispose()


def records(random: np.random.Generator) -> Iterator[Record]:
    """The runs of cell after cell, of a tenth as many machines as there are thousand cells."""
    for place, cell in enumerate(cells()):
        step_s = float(np.exp(random.normal(-4.0, 1.2)))
        for number in range(1, RUNS_EACH + 1):
            yield drawn(cell, place, number, step_s * float(np.exp(random.normal(0, 0.01))), random)


def cells() -> Iterator[Cell]:
    """A box that grows alike in every direction: a thousand records are such a report as somebody would make."""
    known = [spec for spec in specs().values() if not spec.is_instrument]
    cases = [(entry.network, entry.dataset) for entry in entries()]
    sides = (BATCHES, MANNERS, cases, known)
    places = itertools.product(*(range(len(side)) for side in sides))
    for chosen in sorted(places, key=lambda at: max(i / len(side) for i, side in zip(at, sides, strict=True))):
        batch, (device, precision, threads) = BATCHES[chosen[0]], MANNERS[chosen[1]]
        network, dataset = cases[chosen[2]]
        spec = known[chosen[3]]
        for execution in dict.fromkeys((spec.executions[0], spec.executions[-1])):
            yield Cell(
                network=network, dataset=dataset, framework=spec.name, device=device, batch=batch,
                precision=precision, execution=execution, data="synthetic", threads=threads,
            )  # fmt: skip


def drawn(cell: Cell, place: int, number: int, step_s: float, random: np.random.Generator) -> Record:
    start = START + timedelta(seconds=60 * place + 20 * number)
    fails = random.random() < 1 / 40
    times = step_s * np.exp(random.normal(0, 0.01, int(random.integers(10, 41))))
    gpus = [GPU] if cell.device == "cuda" else []
    samples = () if fails else tuple(Sample(steps=10, seconds=float(10 * value)) for value in times)
    read = {
        "first_step_s": float(random.uniform(0.1, 20)),
        "host_peak_bytes": int(random.uniform(2e8, 3e9)),
        "device_peak_bytes": int(random.uniform(1e8, 3e10)) if gpus else None,
    }
    found = readings(cell, step_s, random) if gpus else {"busy_cores": float(cell.threads)}
    return Record(
        id=f"{start:%Y%m%dT%H%M%S}-{cell.network}-{cell.framework}-{place:08x}-{number}",
        cell=cell,
        machine="5bce98f73f3e",
        series=1,
        number=number,
        outcome="failed" if fails else "measured",
        reason=f"ValueError: no memory for {place % 50} tensors" if fails else "",
        started_at=start.isoformat(),
        ended_at=(start + timedelta(seconds=18)).isoformat(),
        figures={} if fails else train_figures(cell, samples, {**found, **read}),
        headline="throughput",
        samples=samples,
        warmup=samples[:8],
        flags=("foreign load",) if random.random() < 0.05 else (),
        build_s=0.4,
        loss_first=2.3,
        loss_last=2.1,
        readings=found,
        absent={} if gpus else {"package_j_per_item": "this machine shows no RAPL counters"},
        trace=trace(random),
        versions={"numpy": "2.4.0", "python": "3.12.3", cell.framework: "1.0"},
        settings={"layout": "nchw", "optimizer": "SGD (fused)"},
        environment={**HOST, "load": float(random.random()), "gpus": gpus},
        cost={"batch": cell.batch, "step_flops": 10**9},
        **read,
    )


def readings(cell: Cell, step_s: float, random: np.random.Generator) -> dict[str, float]:
    watts = float(random.uniform(150, 690))
    names = ("busy_cores", "device_reserved_bytes", "device_seen_bytes", "peak_w", "idle_w", "sm_mhz", "memory_mhz",
             "temperature_c", "utilisation", "throttled", "asked_s", "energy_disagreement")  # fmt: skip
    drawn = {name: float(random.uniform(0, 1000)) for name in names}
    return {**drawn, "mean_w": watts, "j_per_item": watts * step_s / cell.batch}


def trace(random: np.random.Generator) -> dict[str, list[list[float]]]:
    times = np.linspace(0, 10, 200)
    return {
        name: [[float(at), float(value)] for at, value in zip(times, random.normal(500, 20, 200), strict=True)]
        for name in ("power_w", "sm_clock_mhz", "memory_bytes")
    }


def built(store: Path, page: Path) -> tuple[float, float]:
    """Seconds and mebibytes of `netdyno report` in a process of its own."""
    command = [sys.executable, "-m", "netdyno", "--store", str(store), "report", "-o", str(page)]
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"netdyno report ended with {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def opened(path: Path) -> tuple[float, float]:
    """Seconds until the page answers, and until a search has its answer."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        start = time.monotonic()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        ready_s = time.monotonic() - start
        search_s = searched(page)
        browser.close()
    return ready_s, search_s


def searched(page: Page) -> float:
    before = page.locator("#count").inner_text()
    start = time.monotonic()
    page.fill("#search", "resnet50 b128")
    page.wait_for_function("before => document.getElementById('count').textContent !== before", arg=before)
    return time.monotonic() - start


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--keep", type=Path, help="keep stores and pages in this folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
