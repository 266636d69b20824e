"""How well does a cell learn? Training on real data to a goal; the number of a run is its seed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from msgspec import structs

from netdyno.data.item import SPLITS
from netdyno.devices.monitor.trace import TRACE, read_trace
from netdyno.errors import NetdynoError
from netdyno.graph.evaluation import evaluation_of, needs_other_graph
from netdyno.graph.model import Programme
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.request import SEED, EarlierStage, EvaluationGraph, Folded, LearningPlan, LearnRequest
from netdyno.results.cell import Cell
from netdyno.results.cores import crowding
from netdyno.results.figure import Figure
from netdyno.results.record import MEASURED, SHORT, Evaluation, Record
from netdyno.runtime.judge import DONE, FAILED, disturbances
from netdyno.runtime.readings.gpus import read_gpus
from netdyno.runtime.readings.host import read_host
from netdyno.runtime.readings.window import Readings, Window
from netdyno.runtime.task import Finished
from netdyno.runtime.worker import Setup, request_fields
from netdyno.version import __version__
from netdyno.workloads import figures
from netdyno.workloads.figures import LESS, MORE
from netdyno.workloads.goal import Goal, goal_of
from netdyno.workloads.inputs import InputFiles
from netdyno.workloads.pictures import kept_pictures, pictures_plan, why_no_pictures
from netdyno.workloads.train import settings_of, versions_of
from netdyno.workloads.workload import Job, RunFacts

ENERGY = "energy_j"


@dataclass(frozen=True, slots=True)
class Learn:
    """Train a cell on real data to a goal."""

    name: str = "learn"
    has_goal: bool = True

    def request(self, job: Job) -> LearnRequest:
        return learn_request(job)

    def record(self, facts: RunFacts, finished: Finished, ended_at: str) -> Record:
        return record_of(facts, finished, ended_at)


WORKLOAD = Learn()


def learn_request(job: Job) -> LearnRequest:
    """Train the cell's network on real data."""
    check_goal(job.cell, job.programme)
    classifies = is_classifier(job.programme)
    programme = job.programme if classifies else telling(job.programme)
    return LearnRequest(
        **request_fields(job.worker, Setup.of(job.cell)),
        seed=SEED + job.number,
        cell=job.cell.as_dict(),
        programme=job.worker.wire(programme),
        plan=_plan(job) if classifies else _scored_plan(job, programme),
    )


def check_goal(cell: Cell, programme: Programme) -> None:
    """Refuse an accuracy of a network that classifies nothing."""
    if goal_of(cell.goal).accuracy is not None and not is_classifier(programme):
        raise NetdynoError(
            f"network '{cell.network}': expected a goal in epochs or steps, received '{cell.goal}':"
            " it classifies nothing."
        )


def telling(programme: Programme) -> Programme:
    """The programme with its losses, and the scalars among its outputs, as its only outputs."""
    shapes, losses = programme.graph.shapes(), [update.loss for update in programme.updates()]
    scalars = [name for name in programme.graph.outputs if shapes[name] == () and name not in losses]
    return replace(programme, graph=replace(programme.graph, outputs=(*losses, *scalars)))


def learn_figures(facts: RunFacts, logs: Sequence[EventLog], readings: Mapping[str, float]) -> dict[str, Figure]:
    """What a run that ended came to; the accuracy is that of the first rank, which evaluates."""
    evaluations, trained = logs[0].all(events.Evaluation), logs[0].first(events.Trained)
    train_s, wall_s = figures.trained_s(logs)
    last, stages = evaluations[-1] if evaluations else None, logs[0].all(events.Stage)
    earlier_s = sum(stage.seconds for stage in stages) if stages else None
    scores = [] if last is None or last.accuracy is not None else [("loss", last.loss), *last.scores.items()]
    return figures.by_name(
        [
            figures.find_figure("accuracy", "", MORE, last.accuracy if last else None),
            *(figures.find_figure(name, "", LESS, score) for name, score in scores),
            figures.find_figure("train_time", "s", LESS, train_s),
            figures.find_figure("earlier_time", "s", LESS, earlier_s),
            figures.find_figure("wall_time", "s", LESS, wall_s),
            figures.find_figure("steps", "steps", LESS, float(trained.steps) if trained else None),
            figures.find_figure("energy", "J", LESS, readings.get(ENERGY)),
        ]
    )


def headline(facts: RunFacts, told: Mapping[str, Figure]) -> str:
    """What such a run is about: how good it is, or how long it took where the goal is an accuracy."""
    if goal_of(facts.cell.goal).accuracy is not None:
        return "train_time"
    return "loss" if "loss" in told else "accuracy"


def record_of(facts: RunFacts, finished: Finished, ended_at: str) -> Record:
    """The record of a learning run: its curve whatever its end, its figures if it was trained to the end."""
    log = finished.log
    trained = log.first(events.Trained)
    outcome, reason = _outcome(finished, goal_of(facts.cell.goal))
    found = _read(finished, facts, trained) if trained else Readings()
    absent = {"energy": found.absent[ENERGY]} if ENERGY in found.absent else {}
    absent |= {"pictures": why} if (why := why_no_pictures(log)) else {}
    told = learn_figures(facts, finished.logs, found.values) if outcome in (MEASURED, SHORT) else {}
    return Record(
        id=finished.folder.name,
        cell=facts.cell,
        machine=facts.machine,
        series=facts.series,
        number=facts.number,
        outcome=outcome,
        reason=reason,
        started_at=facts.started_at,
        ended_at=ended_at,
        figures=told,
        headline=headline(facts, told),
        curve=_curve(log),
        pictures=kept_pictures(log),
        flags=_flags(facts, finished, outcome),
        readings=found.values,
        absent={**found.absent, **absent},
        versions=versions_of(log),
        settings=facts.settings(settings_of(log)),
        environment=facts.environment,
        graph_digest=facts.graph_digest,
        graph_identity=facts.graph_identity,
        worker_hash=facts.worker_hash,
        cost=facts.cost,
        basis=facts.basis,
        netdyno_version=__version__,
    )


def _plan(job: Job) -> LearningPlan:
    evaluation = evaluation_of(job.programme) if needs_other_graph(job.programme) else None
    answering = evaluation.programme if evaluation else job.programme
    other = None
    if evaluation:
        other = EvaluationGraph(
            programme=job.worker.wire(evaluation.programme),
            folded=tuple(Folded(**asdict(row)) for row in evaluation.folded),
        )
    return structs.replace(_open_plan(job), logits=answering.graph.outputs[0], evaluation=other)


def _scored_plan(job: Job, programme: Programme) -> LearningPlan:
    """Where nothing is classified, the graph that is trained is also the one that is evaluated, draws and all."""
    losses = {update.name: update.loss for update in programme.updates()}
    others = {name: name for name in programme.graph.outputs if name not in losses.values()}
    each = losses if len(losses) > 1 else {}
    return structs.replace(
        _open_plan(job),
        losses=tuple(losses.values()),
        scores={**each, **others},
        pictures=pictures_plan(job.programme, job.worker),
    )


def _open_plan(job: Job) -> LearningPlan:
    """All but what is read of the test split."""
    goal, inputs = goal_of(job.cell.goal), job.inputs
    if inputs is None:
        raise NetdynoError(
            f"{job.cell.label()}: expected files to learn from, received none.", hint="Use --data packed."
        )
    train, test = (str(inputs.ready.packed_file(split).resolve()) for split in SPLITS)
    return LearningPlan(
        train=train,
        test=test,
        transforms=inputs.transforms,
        steps=goal.steps,
        epochs=goal.epochs,
        evaluate_every=_evaluate_every(job, inputs),
        until=goal.accuracy,
        loading_threads=job.cell.threads,
        before=tuple(EarlierStage(programme=job.worker.wire(stage), epochs=n) for stage, n in job.before),
        labelled=job.labelled if job.labelled and job.labelled < inputs.ready.about.count else None,
    )


def _evaluate_every(job: Job, inputs: InputFiles) -> int:
    """Steps between evaluations: those of an epoch, unless requested otherwise; 0 evaluates at the end only."""
    if job.evaluate_every is not None:
        return job.evaluate_every
    return max(1, math.ceil(inputs.ready.about.count / job.cell.batch))


def _curve(log: EventLog) -> tuple[Evaluation, ...]:
    return tuple(
        Evaluation(
            step=e.step,
            train_s=e.train_s,
            wall_s=e.wall_s,
            accuracy=e.accuracy,
            loss=e.loss,
            scores={name: score for name, score in e.scores.items() if score is not None},
        )
        for e in log.all(events.Evaluation)
        if e.loss is not None
    )


def _outcome(finished: Finished, goal: Goal) -> tuple[str, str]:
    """The verdict holds for a run that was not finished; one that was is compared with its goal."""
    log = finished.log
    if finished.verdict.outcome != DONE:
        return finished.verdict.outcome, finished.reason
    evaluations = log.all(events.Evaluation)
    if not log.first(events.Trained) or not evaluations:
        return FAILED, "done without training"
    reached = evaluations[-1].accuracy
    if goal.accuracy is not None and reached is not None and reached < goal.accuracy:
        return SHORT, f"accuracy {reached:.4f} at the end"
    return MEASURED, ""


def _flags(facts: RunFacts, finished: Finished, outcome: str) -> tuple[str, ...]:
    """What is weak about a run that ended: what else the machine did meanwhile, as for a run that is timed."""
    if outcome not in (MEASURED, SHORT):
        return ()
    crowd = crowding(facts.cell.threads, facts.environment) if facts.cell.device == "cpu" else ""
    return (*disturbances(finished.ending), *([crowd] if crowd else []))


def _read(finished: Finished, facts: RunFacts, trained: events.Trained) -> Readings:
    """Power and energy from the first step to the end, evaluations included."""
    log = finished.log
    first = log.first(events.FirstStep)
    if first is None:
        return Readings(absent={"readings": "the worker's events do not say when it began"})
    window = Window(
        launched=facts.launched,
        built=(log.first(events.Built) or first).at,
        start=first.at - first.seconds,
        end=trained.at,
        items=trained.items,
    )
    trace = read_trace(finished.folder / TRACE)
    host = read_host(trace, window)
    gpu = read_gpus(trace, window) if trace.gpus else Readings()
    found = Readings(values={**host.values, **gpu.values}, absent={**host.absent, **gpu.absent})
    per_item = found.values.get("j_per_item", found.values.get("package_j_per_item"))
    if per_item is None:
        found.absent[ENERGY] = found.absent.get("package_j_per_item", "no energy could be read")
    else:
        found.values[ENERGY] = per_item * window.items
    return found


def is_classifier(programme: Programme) -> bool:
    """Whether its first output is compared with a label for each item, so that an accuracy means something."""
    labels = {given.name for given in programme.graph.inputs if given.dtype == "integer"}
    losses = [node for node in programme.graph.nodes if node.op == "softmax_cross_entropy"]
    outputs = programme.graph.outputs
    return bool(outputs) and any(node.inputs[0] == outputs[0] and node.inputs[1] in labels for node in losses)
