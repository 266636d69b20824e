"""How fast is the forward pass alone? Timed like training, without gradients and updates."""

from dataclasses import dataclass, replace

from netdyno.protocol.request import TimingRequest
from netdyno.results.record import Record
from netdyno.runtime.task import Finished
from netdyno.workloads.train import judge_measurement, record_of, timing_request
from netdyno.workloads.workload import Job, RunFacts


@dataclass(frozen=True, slots=True)
class Forward:
    """Time the forward pass of a cell, in training mode."""

    name: str = "forward"
    has_goal: bool = False

    def request(self, job: Job) -> TimingRequest:
        return timing_request(self.name, job)

    def record(self, facts: RunFacts, finished: Finished, ended_at: str) -> Record:
        own = replace(facts, cost={**facts.cost, "step_flops": facts.cost.get("forward_flops", 0)})
        return record_of(own, finished, judge_measurement(finished, facts.target, trains=False), ended_at)


WORKLOAD = Forward()
