"""The figures of a run, and how those of several ranks combine."""

import pytest
from tests.results.samples import make_cell

from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import FirstStep, Memory, Sample
from netdyno.workloads.figures import Figure
from netdyno.workloads.train import HEADLINE, train_figures
from netdyno.workloads.workload import RunFacts


def _log(step_s, first_s=1.0, host=100, device=None):
    samples = [Sample(at=2 + n, steps=10, seconds=10 * step_s * slower) for n, slower in enumerate((1, 1, 5))]
    memory = Memory(at=9, host_peak_bytes=host, device_peak_bytes=device)
    return EventLog(events=(FirstStep(at=1, seconds=first_s), *samples, memory))


def _facts(device="cpu", **changes):
    given = {
        "cell": make_cell(batch=8, device=device), "series": 1, "number": 1, "machine": "m",
        "target": 0.1, "graph_digest": "", "worker_hash": "",
    }  # fmt: skip
    return RunFacts(**{**given, **changes})


def test_a_run_of_one_rank():
    found = train_figures(_facts(), [_log(0.5)], {"package_j_per_item": 0.25})
    assert list(found) == ["throughput", "step", "first_step", "memory", "energy"]
    assert found[HEADLINE] == Figure(name="throughput", unit="images/s", better="more", value=16.0, per_step=8)
    assert (found["step"].value, found["step"].better) == (0.5, "less")
    assert found["memory"] == Figure(
        name="memory", unit="bytes", better="less", value=100.0, source="host_peak_bytes"
    )
    assert found["energy"] == Figure(
        name="energy", unit="J/image", better="less", value=0.25, source="package_j_per_item"
    )


def test_the_items_own_name_is_in_the_unit():
    found = train_figures(_facts(item="token"), [_log(0.5)], {"package_j_per_item": 1.0})
    assert (found["throughput"].unit, found["energy"].unit) == ("tokens/s", "J/token")


def test_a_row_of_a_text_is_as_many_items_as_it_has_tokens():
    found = train_figures(_facts(item="token", units=32), [_log(0.5)], {})
    assert found["throughput"].per_step == 32 * train_figures(_facts(), [_log(0.5)], {})["throughput"].per_step


def test_a_group_is_as_fast_as_its_slowest_rank_and_takes_the_memory_of_all():
    logs = [_log(0.5, first_s=3.0), _log(1.0, first_s=2.0)]
    found = train_figures(_facts(), logs, {})
    assert (found["throughput"].value, found["throughput"].per_step) == (16.0, 16)
    assert (found["step"].value, found["first_step"].value, found["memory"].value) == (1.0, 3.0, 200.0)


@pytest.mark.parametrize(("device", "expected"), [(None, None), (7, 7.0)])
def test_on_a_gpu_memory_is_the_devices_and_absent_where_it_is_not_known(device, expected):
    found = train_figures(_facts("cuda"), [_log(0.5, device=device)], {"mean_w": 300.0, "j_per_item": 2.0})
    assert (found["memory"].value if "memory" in found else None) == expected
    assert (found["power"].value, found["energy"].value) == (300.0, 2.0)
