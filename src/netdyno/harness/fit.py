"""Does a batch fit? One fresh process builds the network, trains a few steps and tells, or runs out of memory."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.harness.events import Event, Story, read_story
from netdyno.harness.folder import write_json
from netdyno.harness.judge import judge
from netdyno.harness.launch import launch
from netdyno.harness.request import fit_request
from netdyno.harness.run import Campaign
from netdyno.harness.watch import Ending, watch
from netdyno.results.cell import Cell
from netdyno.results.limit import asked_bytes, speaks_of_memory

FITS = "fits"
OUT_OF_MEMORY = "out of memory"
NO_GRAPH = "no graph"  # the network cannot even be written down for so many images
STEPS = 3  # the second has the optimizer's moments beside the gradients, the third has found its workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What one try came to. `outcome` is 'fits', 'no graph' or an outcome of a record; near the limit memory is
    noisy (fragments, workspaces that are chosen by timing), so another try may come to something else."""

    batch: int
    outcome: str
    reason: str = ""
    starved: bool = False  # somewhere it says that memory ran out, whatever the outcome
    asked_bytes: int | None = None  # what was one too many
    peak_bytes: int | None = None  # of the device; of the host where the device is the CPU
    versions: str = ""  # of the framework's libraries, in one line
    took_s: float = 0.0

    @property
    def fits(self) -> bool:
        return self.outcome == FITS


def try_batch(cell: Cell, campaign: Campaign, on_poll: Callable[[], None]) -> Fit:
    """Try the cell at its batch; whatever happens to the process is an answer, not an error."""
    start = time.monotonic()
    try:
        programme = campaign.bench.programme(cell)
    except NetdynoError as error:
        return Fit(batch=cell.batch, outcome=NO_GRAPH, reason=str(error))
    with tempfile.TemporaryDirectory(dir=campaign.folders.scratch(), prefix="fit-") as name:
        folder = Path(name)
        write_json(folder / "request.json", fit_request(cell, programme, campaign.side(cell), STEPS))
        ending = watch(launch(campaign.command(cell, folder)), campaign.settings.deadline_s, on_poll)
        return _answer(cell, folder, ending, time.monotonic() - start)


def _answer(cell: Cell, folder: Path, ending: Ending, took_s: float) -> Fit:
    story = read_story(folder / "events.jsonl")
    outcome, reason = _outcome(folder, story, ending)
    said = _words_of_memory(outcome, reason, folder / "stderr.log")
    return Fit(
        batch=cell.batch,
        outcome=outcome,
        reason=reason if said in reason else f"{said} ({reason})",
        starved=outcome == OUT_OF_MEMORY or bool(said),
        asked_bytes=asked_bytes(said),
        peak_bytes=_peak_bytes(story.first("memory"), cell.device),
        versions=_versions(story.first("hello")),
        took_s=took_s,
    )


def _outcome(folder: Path, story: Story, ending: Ending) -> tuple[str, str]:
    """A try is judged as a run is, but what a run must have measured is here only the memory."""
    done = story.last is not None and story.last["event"] == "done" and not story.complaint
    if done and story.first("memory"):
        return FITS, ""
    if done:
        return "failed", "the worker broke its protocol: done without telling its memory"
    verdict = judge(folder, ending, target=1.0)
    return verdict.outcome, verdict.reason


def _words_of_memory(outcome: str, reason: str, log: Path) -> str:
    """What it said of memory. A library that gave up by itself said so in the log, perhaps above a trace of calls;
    where there was a last word, only that counts, because logs also tell of shortages that were overcome."""
    if outcome == "crashed" and log.exists():
        lines = reversed(log.read_text(errors="replace").splitlines())
        return next((line.strip()[:500] for line in lines if speaks_of_memory(line)), "")
    return reason if outcome in (OUT_OF_MEMORY, "failed") and speaks_of_memory(reason) else ""


def _peak_bytes(memory: Event | None, device: str) -> int | None:
    found = (memory or {}).get("host_peak_bytes" if device == "cpu" else "device_peak_bytes")
    return found if isinstance(found, int) else None


def _versions(hello: Event | None) -> str:
    if hello is None:
        return ""
    libraries = sorted((hello.get("versions") or {}).items())
    return ", ".join(f"{name} {version}" for name, version in [*libraries, ("python", hello.get("python"))])
