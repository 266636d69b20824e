"""What became of a run: its outcome, its numbers and what is weak about them."""

import math
import signal
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netdyno.errors import NetdynoError
from netdyno.harness.events import Event, Story, read_story
from netdyno.harness.watch import Ending, tail
from netdyno.results.record import Sample
from netdyno.results.statistics import median_interval

DRIFT = 0.02  # between the medians of a run's two halves
FOREIGN = 0.05  # of the machine used by others
STOLEN = 0.02  # of the machine given away by a hypervisor

OUTCOME_OF = {
    "done": "measured",
    "unsupported": "unsupported",
    "out_of_memory": "out of memory",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An outcome with its reason and, if measured, the fields of the record that the worker's story fills."""

    outcome: str
    reason: str = ""
    fields: dict[str, Any]


def judge(folder: Path, ending: Ending, target: float) -> Verdict:
    """The verdict on a run from what it said and how it ended."""
    story = read_story(folder / "events.jsonl")
    fields = _facts(story)
    if story.complaint:
        return Verdict(outcome="failed", reason=f"the worker broke its protocol: {story.complaint}", fields=fields)
    if story.last is None:
        outcome, reason = _silence(ending, tail(folder / "stderr.log"))
        return Verdict(outcome=outcome, reason=reason, fields=fields)
    if story.last["event"] != "done":
        return Verdict(
            outcome=OUTCOME_OF[story.last["event"]], reason=_one_line(story.last.get("reason")), fields=fields
        )
    return _judge_measurement(story, ending, target, fields)


def _judge_measurement(story: Story, ending: Ending, target: float, fields: dict[str, Any]) -> Verdict:
    try:
        samples = _samples(story)
    except (NetdynoError, KeyError, TypeError, ValueError) as error:
        return Verdict(
            outcome="failed", reason=f"the worker broke its protocol: a bad sample ({error})", fields=fields
        )
    if not samples or fields["first_step_s"] is None or not fields["weights_digest"]:
        return Verdict(
            outcome="failed", reason="the worker broke its protocol: done without measuring", fields=fields
        )
    if fields["loss_first"] is None or fields["loss_last"] is None:
        return Verdict(outcome="failed", reason="the loss became infinite or not a number", fields=fields)
    flags = _flags(story, samples, target, fields) + _disturbances(ending)
    return Verdict(outcome="measured", fields={**fields, "samples": samples, "flags": tuple(flags)})


def _facts(story: Story) -> dict[str, Any]:
    """What the story tells whatever its end; absent things are None or empty."""
    hello, built = story.first("hello") or {}, story.first("built") or {}
    memory = story.first("memory") or {}
    return {
        "versions": {**_texts(hello.get("versions")), "python": str(hello.get("python", ""))} if hello else {},
        "build_s": _number(built.get("seconds")),
        "weights_digest": str(built.get("weights", "")),
        "settings": {**_table(built.get("settings")), **_pipeline(story)},
        "first_step_s": _number((story.first("first_step") or {}).get("seconds")),
        "warmup": _warmup(story.first("warmup")),
        "loss_first": _loss(story, "first"),
        "loss_last": _loss(story, "last"),
        "host_peak_bytes": memory.get("host_peak_bytes"),
        "device_peak_bytes": memory.get("device_peak_bytes"),
    }


def _pipeline(story: Story) -> dict[str, Any]:
    """What a framework's own input pipeline notes of itself, under one name; nothing where there is none."""
    notes = _table((story.first("phases") or {}).get("notes"))
    return {"pipeline": notes} if notes else {}


def _samples(story: Story) -> tuple[Sample, ...]:
    return tuple(Sample(steps=event["steps"], seconds=float(event["seconds"])) for event in story.all("sample"))


def _warmup(event: Event | None) -> tuple[Sample, ...]:
    blocks = event.get("blocks", []) if event else []
    return tuple(Sample(steps=steps, seconds=seconds) for steps, seconds in blocks)


def _loss(story: Story, when: str) -> float | None:
    """The sum of the updates' losses; None if it was not told or is not finite."""
    told = next((event for event in story.all("loss") if event.get("when") == when), None)
    losses = [_number(value) for value in told["losses"].values()] if told else []
    known = [value for value in losses if value is not None]
    return sum(known) if known and len(known) == len(losses) else None


def _flags(story: Story, samples: tuple[Sample, ...], target: float, fields: dict[str, Any]) -> list[str]:
    flags = []
    if not (story.first("warmup") or {}).get("steady"):
        flags.append("warm-up cut short")
    interval = median_interval(samples)
    middle = statistics.median(sample.seconds_per_step for sample in samples)
    if interval is None or (interval[1] - interval[0]) / 2 > target * middle:
        flags.append("interval not reached")
    if _drifts(samples):
        flags.append("drifting")
    if fields["loss_first"] == fields["loss_last"]:
        flags.append("loss does not move")
    return flags


def _drifts(samples: tuple[Sample, ...]) -> bool:
    """Do the halves of the run differ by more than the tolerance and by more than the noise?"""
    values = [sample.seconds_per_step for sample in samples]
    if len(values) < 8:
        return False
    half = len(values) // 2
    older, newer = statistics.median(values[:half]), statistics.median(values[half:])
    away = [abs(value - older) for value in values[:half]] + [abs(value - newer) for value in values[half:]]
    return abs(newer - older) > max(DRIFT * older, 2 * statistics.median(away))


def _disturbances(ending: Ending) -> list[str]:
    flags = []
    if ending.foreign_share is not None and ending.foreign_share > FOREIGN:
        flags.append("foreign load")
    if ending.stolen_share is not None and ending.stolen_share > STOLEN:
        flags.append("stolen time")
    return flags


def _silence(ending: Ending, last_lines: str) -> tuple[str, str]:
    """The outcome of a worker that ended without a last word."""
    if ending.timed_out:
        return "timed out", "no last word before the deadline"
    said = f": {last_lines}" if last_lines else ""
    if ending.exit_code == -signal.SIGKILL and ending.out_of_memory_kills:
        return "out of memory", "killed by the kernel for want of host memory"
    if ending.exit_code < 0:
        return "crashed", f"ended by {signal.Signals(-ending.exit_code).name}{said}"
    return "crashed", f"exit code {ending.exit_code} without a last word{said}"


def _number(value: Any) -> float | None:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, dict) else {}


def _one_line(value: Any) -> str:
    return " ".join(str(value or "no reason given").split())[:500]
