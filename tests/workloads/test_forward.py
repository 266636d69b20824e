"""A workload that is one host file and one worker file: does it come out in results and tables?"""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec

from netdyno.bench.cells import Bench
from netdyno.bench.settings import Settings
from netdyno.runtime.worker import Worker
from netdyno.workloads import find_workload, workload_names
from netdyno.workloads.workload import Job
from netdyno_worker.contract import Trainer
from netdyno_worker.tasks import forward


def test_it_is_found_by_its_name():
    assert find_workload("forward").name == "forward"
    assert {"train", "learn", "forward"} <= set(workload_names())


def test_a_framework_that_cannot_do_a_part_of_a_step_says_so(netdyno):
    netdyno("run", "--workload", "forward", "--framework", "null", "--network", "lenet", "--runs", "1")
    (result,) = netdyno.json("results")
    assert (result["workload"], result["outcome"]) == ("forward", "unsupported")


def test_only_the_forward_pass_is_timed(tmp_path):
    trainer = Counting()
    events = []
    forward.run(Adapter(trainer), request(tmp_path), lambda event, **fields: events.append((event, fields)))
    names = [event for event, _ in events]
    assert names[:2] == ["built", "first_step"]
    assert {"warmup", "sample", "memory"} <= set(names)
    assert trainer.calls["forward"] > 0
    assert "backward" not in trainer.calls
    assert sum(fields["steps"] for event, fields in events if event == "sample") <= trainer.calls["forward"]


def request(tmp_path):
    """As the host makes it for a small network."""
    bench = Bench(threads=1, folder=tmp_path, framework="null")
    cell = bench.complete({"network": "lenet", "batch": 1, "workload": "forward"})
    worker = Worker(python=Path("python"), archive=Path("worker-0.pyz"), adapter="null", fused=frozenset(["silu"]))
    timing = Settings(seconds=0.05).timing("cpu")
    job = Job(cell=cell, number=1, programme=bench.programme(cell), worker=worker, timing=timing)
    return json.loads(msgspec.json.encode(find_workload("forward").request(job)))


class Adapter:
    UNSUPPORTED: ClassVar[dict[str, str]] = {}

    def __init__(self, trainer):
        self._trainer = trainer

    def build(self, job):
        return self._trainer


class Counting(Trainer):
    """Counts what it is asked to do."""

    def __init__(self):
        self.calls = Counter()

    def feed(self, batch):
        self.calls["feed"] += 1

    def wait(self):
        self.calls["wait"] += 1

    def stages(self):
        return [(name, partial(self.calls.update, [name])) for name in ("forward", "backward", "update")]
