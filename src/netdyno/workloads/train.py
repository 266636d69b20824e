"""How fast does a cell train? Timed blocks of steps, with memory, power and energy read meanwhile."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netdyno.devices.monitor.trace import TRACE, read_trace
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.request import TimingRequest
from netdyno.results.cores import crowding
from netdyno.results.figure import Figure
from netdyno.results.limit import asked_bytes
from netdyno.results.record import MEASURED, Record, Sample
from netdyno.results.statistics import median_interval
from netdyno.runtime.judge import DONE, FAILED, OUT_OF_MEMORY, broken, disturbances
from netdyno.runtime.readings.run import read_run, timed_window
from netdyno.runtime.readings.window import Readings
from netdyno.runtime.task import Finished
from netdyno.runtime.worker import Setup, request_fields
from netdyno.version import __version__
from netdyno.workloads import figures
from netdyno.workloads.figures import LESS
from netdyno.workloads.workload import SYNTHETIC, Job, RunFacts

HEADLINE = "throughput"
POWER = "mean_w"
DRIFT = 0.02  # between the medians of a run's two halves


@dataclass(frozen=True, slots=True)
class Train:
    """Time the training steps of a cell."""

    name: str = "train"
    has_goal: bool = False

    def request(self, job: Job) -> TimingRequest:
        return timing_request(self.name, job)

    def record(self, facts: RunFacts, finished: Finished, ended_at: str) -> Record:
        return record_of(facts, finished, judge_measurement(finished, facts.target), ended_at)


WORKLOAD = Train()


def timing_request(task: str, job: Job) -> TimingRequest:
    """The request of a workload that times steps of a cell's programme."""
    fed = job.inputs.files(job.cell) if job.inputs and job.cell.data != SYNTHETIC else None
    return TimingRequest(
        task=task,
        **request_fields(job.worker, Setup.of(job.cell)),
        cell=job.cell.as_dict(),
        programme=job.worker.wire(job.programme),
        timing=job.timing,
        files=fed,
    )


def train_figures(facts: RunFacts, logs: Sequence[EventLog], readings: Mapping[str, float]) -> dict[str, Figure]:
    """What a measured run came to; how ranks combine is in figures.py."""
    cell, item = facts.cell, facts.item
    step_s = figures.step_s(figures.slowest(logs))
    joules, memory = energy_reading(cell.device), f"{'host' if cell.device == 'cpu' else 'device'}_peak_bytes"
    return figures.by_name(
        [
            figures.throughput(logs, cell.batch * facts.units, item),
            figures.find_figure("step", "s", LESS, step_s),
            figures.find_figure("first_step", "s", LESS, figures.first_step_s(logs)),
            figures.find_figure("memory", "bytes", LESS, figures.memory_bytes(logs, cell.device), memory),
            figures.find_figure("power", "W", LESS, readings.get(POWER), POWER),
            figures.find_figure("energy", f"J/{item}", LESS, readings.get(joules), joules),
        ]
    )


def energy_reading(device: str) -> str:
    """The reading that is the energy per item: of the GPUs, or of the processor where it computes."""
    return "package_j_per_item" if device == "cpu" else "j_per_item"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What became of a run that times steps: an outcome, and the samples of its slowest rank if it was measured."""

    outcome: str
    reason: str
    samples: tuple[Sample, ...] = ()
    flags: tuple[str, ...] = ()


def judge_measurement(finished: Finished, target: float, *, trains: bool = True) -> Measured:
    """The verdict on a group that should have timed blocks on every rank, and moved a loss if it `trains`."""
    verdict, logs = finished.verdict, finished.logs
    if verdict.outcome != DONE:
        return Measured(outcome=verdict.outcome, reason=finished.reason)
    if not all(_has_measured(log) for log in logs):
        return Measured(outcome=FAILED, reason=broken("done without measuring").reason)
    if trains and any(loss_of(log, when) is None for log in logs for when in ("first", "last")):
        return Measured(outcome=FAILED, reason="the loss became infinite or not a number")
    log = figures.slowest(logs)
    samples = _samples(log)
    still = ["loss does not move"] if trains and loss_of(log, "first") == loss_of(log, "last") else []
    flags = (*_flags(log, samples, target), *still, *disturbances(finished.ending))
    return Measured(outcome=MEASURED, reason="", samples=samples, flags=flags)


def record_of(facts: RunFacts, finished: Finished, judged: Measured, ended_at: str) -> Record:
    """The record of a run that times steps, whatever became of it."""
    found = _readings(facts, finished, judged.outcome)
    crowd = crowding(facts.cell.threads, facts.environment) if facts.cell.device == "cpu" else ""
    own = (*found.flags, *([crowd] if crowd and judged.outcome == MEASURED else []))
    log = finished.log
    built, memory = log.first(events.Built), log.first(events.Memory) or events.Memory(at=0.0)
    warmup = log.first(events.Warmup)
    return Record(
        id=finished.folder.name,
        cell=facts.cell,
        machine=facts.machine,
        series=facts.series,
        number=facts.number,
        outcome=judged.outcome,
        started_at=facts.started_at,
        ended_at=ended_at,
        reason=judged.reason,
        figures=train_figures(facts, finished.logs, found.values) if judged.outcome == MEASURED else {},
        headline=HEADLINE,
        samples=judged.samples,
        warmup=tuple(Sample(steps=steps, seconds=s) for steps, s in warmup.blocks) if warmup else (),
        flags=(*judged.flags, *own),
        build_s=built.seconds if built else None,
        first_step_s=figures.first_step_s(finished.logs),
        loss_first=loss_of(log, "first"),
        loss_last=loss_of(log, "last"),
        host_peak_bytes=memory.host_peak_bytes,
        device_peak_bytes=memory.device_peak_bytes,
        readings=found.values,
        absent={**found.absent, **_absent_figures(facts.cell.device, found.absent)},
        trace=found.trace,
        graph_digest=facts.graph_digest,
        graph_identity=facts.graph_identity,
        weights_digest=built.weights if built else "",
        worker_hash=facts.worker_hash,
        netdyno_version=__version__,
        versions=versions_of(log),
        settings=facts.settings(settings_of(log)),
        environment=facts.environment,
        cost=facts.cost,
        basis=facts.basis,
    )


def _absent_figures(device: str, absent: Mapping[str, str]) -> dict[str, str]:
    """Why figures are absent, by their own names."""
    readings = {"power": POWER, "energy": energy_reading(device)}
    return {name: absent[reading] for name, reading in readings.items() if reading in absent}


def versions_of(log: EventLog) -> dict[str, str]:
    """Of the framework's libraries and of Python."""
    hello = log.first(events.Hello)
    return {**hello.versions, "python": hello.python} if hello else {}


def settings_of(log: EventLog) -> dict[str, object]:
    """What the adapter chose; under `pipeline`, what a framework's own input pipeline notes about itself."""
    built, phases = log.first(events.Built), log.first(events.Phases)
    notes: dict[str, object] = {"pipeline": phases.notes} if phases and phases.notes else {}
    return {**(built.settings if built else {}), **notes}


def loss_of(log: EventLog, when: str) -> float | None:
    """The sum of the updates' losses; None if it was not reported or is not finite."""
    event = next((event for event in log.all(events.Loss) if event.when == when), None)
    losses = list(event.losses.values()) if event else []
    known = [value for value in losses if value is not None]
    return sum(known) if known and len(known) == len(losses) else None


def _readings(facts: RunFacts, finished: Finished, outcome: str) -> Readings:
    """What was read of a measured run; of one out of memory, how much it asked for."""
    if outcome == MEASURED:
        trace = read_trace(finished.folder / TRACE)
        window = timed_window(finished.log, facts.items_per_step(), facts.launched, facts.idle_w)
        return read_run(finished.log, trace, window, facts.cell, figures.plural(facts.item))
    asked = asked_bytes(finished.verdict.said or finished.verdict.reason) if outcome == OUT_OF_MEMORY else None
    return Readings(values={"asked_bytes": float(asked)} if asked else {})


def _has_measured(log: EventLog) -> bool:
    built = log.first(events.Built)
    return bool(log.first(events.Sample) and log.first(events.FirstStep) and built and built.weights)


def _samples(log: EventLog) -> tuple[Sample, ...]:
    return tuple(Sample(steps=event.steps, seconds=event.seconds) for event in log.all(events.Sample))


def _flags(log: EventLog, samples: tuple[Sample, ...], target: float) -> list[str]:
    flags = []
    warmup = log.first(events.Warmup)
    if not (warmup and warmup.steady):
        flags.append("warm-up cut short")
    interval = median_interval(samples)
    middle = statistics.median(sample.seconds_per_step for sample in samples)
    if interval is None or (interval[1] - interval[0]) / 2 > target * middle:
        flags.append("interval not reached")
    if _drifts(samples):
        flags.append("drifting")
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
