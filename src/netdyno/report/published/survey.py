"""The thread times of a survey of 2016, bundled with their source."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

THREADS_FILE = "shi2016_threads.csv"

# The survey only says "FCN". One step of fcn5 is 38.5 GFLOP, so 1.3 s on one thread is 29 GFLOP/s, half of that
# core's peak; with fcn5-small it would be 3 GFLOP/s, a twentieth, slower than any matrix library of the time.
THREADS_NETWORK = "fcn5"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTime:
    """Seconds per batch of one framework with so many threads; None where the source has no figure."""

    source: str
    cpu: str
    physical_cores: int
    network: str  # as our zoo names it
    batch: int
    framework: str  # as the source names it
    threads: int
    seconds_per_batch: float | None

    @property
    def label(self) -> str:
        """First author and year."""
        return re.sub(r" et al\. (\d{4}).*", r" \1", self.source)


def published_thread_times() -> tuple[PublishedTime, ...]:
    """The survey's Table I: threads on a CPU."""
    text = resources.files("netdyno").joinpath("reference", THREADS_FILE).read_text(encoding="utf-8")
    return tuple(_time(row) for row in csv.DictReader(text.splitlines()))


def _time(row: Mapping[str, str]) -> PublishedTime:
    cpu, _, cores = row["hardware"].partition(" (")
    return PublishedTime(
        source=row["source"],
        cpu=cpu,
        physical_cores=int(cores.split()[0]),
        network=THREADS_NETWORK,
        batch=int(row["batch_size"]),
        framework=row["framework"],
        threads=int(row["threads"]),
        seconds_per_batch=float(row["seconds_per_batch"]) if row["seconds_per_batch"] else None,
    )
