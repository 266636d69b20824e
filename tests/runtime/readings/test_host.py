"""Busy cores and processor energy of a run."""

import pytest
from tests.runtime.readings.traces import END, ITEMS, WARM, WINDOW

from netdyno.devices.monitor.trace import Trace
from netdyno.runtime.readings.host import read_host


def test_busy_cores_are_cpu_seconds_per_second_of_all_ranks() -> None:
    cpu = tuple((at / 5, 7.5 * at / 5) for at in range(5 * int(WARM) - 9, 5 * int(END) + 9))
    assert read_host(Trace(columns={"host.worker_cpu_s": cpu}), WINDOW).values == {"busy_cores": pytest.approx(7.5)}


def test_package_energy_is_told_per_item_or_absent_with_its_reason() -> None:
    joules = tuple((at / 5, 90.0 * at / 5) for at in range(5 * int(WARM), 5 * int(END)))
    found = read_host(Trace(columns={"host.rapl_j": joules}, missing={"host.worker_cpu_s": "no permission"}), WINDOW)
    assert found.values == {"package_j_per_item": pytest.approx(900 / ITEMS)}
    assert found.absent == {"busy_cores": "no permission"}
    assert read_host(Trace(problem="gone"), WINDOW).absent == {"busy_cores": "gone", "package_j_per_item": "gone"}
