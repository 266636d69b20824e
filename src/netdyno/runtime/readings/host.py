"""Busy cores and processor energy of a run in its timed window."""

from netdyno.devices.monitor.trace import Trace
from netdyno.runtime.readings.energy import during, joules_by_counter
from netdyno.runtime.readings.window import FEWEST, Readings, Window, why_absent


def read_host(trace: Trace, window: Window) -> Readings:
    """How many cores all ranks together kept busy, and the energy by the processor's own counters."""
    found = Readings()
    cpu = during(trace.series("host.worker_cpu_s"), window.start, window.end)
    if len(cpu) >= 2:
        found.values["busy_cores"] = (cpu[-1][1] - cpu[0][1]) / (cpu[-1][0] - cpu[0][0])
    else:
        found.absent["busy_cores"] = why_absent(trace, "host.worker_cpu_s")
    package = during(trace.series("host.rapl_j"), window.start, window.end)
    if len(package) >= FEWEST:
        found.values["package_j_per_item"] = joules_by_counter(package, window.seconds) / window.items
    else:
        found.absent["package_j_per_item"] = why_absent(trace, "host.rapl_j")
    return found
