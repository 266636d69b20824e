"""netdyno doctor: describe this machine, what disturbs measurements on it, and the usable frameworks."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from netdyno.cli.command import one_command
from netdyno.cli.frameworks import Availability, availability
from netdyno.cli.options import JsonOption
from netdyno.devices.doctor.finding import Finding
from netdyno.devices.doctor.gpu import gpu_findings
from netdyno.devices.doctor.gpu_state import GpuState, read_gpu_states
from netdyno.devices.doctor.machine import machine_findings
from netdyno.devices.machine import Machine, describe_machine, machine_id
from netdyno.frameworks.home import home_path
from netdyno.frameworks.spec import specs
from netdyno.report.terminal.console import data_console, print_json
from netdyno.report.terminal.tables import PlainTable
from netdyno.runtime.worker import inherited_variables

WIDTH = 100
COLOURS = {"good": "green", "weak": "yellow", "bad": "red", "unknown": "dim"}


def doctor(json: JsonOption = False) -> None:
    """Describe this machine, what disturbs measurements on it and what to do about it, and the usable frameworks.

    Examples:\n
      netdyno doctor\n
      netdyno doctor --json
    """
    machine = describe_machine()
    states = read_gpu_states() if machine.gpus else []
    inherited = {name: value for spec in specs().values() for name, value in inherited_variables(spec).items()}
    findings = machine_findings(machine, machine.load, home=home_path(), variables=inherited)
    findings += [finding for state in states for finding in gpu_findings(state)]
    found = [availability(spec) for spec in specs().values()]
    if json:
        document = {
            "machine": {"id": machine_id(machine), **machine.as_json()},
            "gpu_states": list(map(asdict, states)),
            "findings": list(map(asdict, findings)),
            "frameworks": [framework.as_json() for framework in found],
        }
        print_json(document)
        return
    console = data_console()
    for table in (machine_table(machine), *map(gpu_table, states), finding_table(findings), usable_table(found)):
        console.print(table, width=min(console.width, WIDTH))
        console.print()


def machine_table(machine: Machine) -> Table:
    """The machine's facts, one per line."""
    table = _table("machine", "")
    for name, value in _facts(machine).items():
        table.add_row(Text(name), Text(value or "not known"))
    return table


def gpu_table(state: GpuState) -> Table:
    """The present state of one GPU, one reading per line."""
    table = _table(f"GPU {state.index} now", "")
    for name, value in _gpu_now(state).items():
        table.add_row(Text(name), Text(value or "not known"))
    return table


def finding_table(findings: list[Finding]) -> Table:
    """What was looked at, its state, and what to do about it."""
    table = _table("disturbance", "state", "seen", "hint")
    for finding in findings:
        state = Text(finding.state, style=COLOURS[finding.state])
        table.add_row(Text(finding.what), state, Text(finding.seen), Text(finding.hint))
    return table


def usable_table(found: Sequence[Availability]) -> Table:
    """The frameworks that can be measured on this machine, and how to install the others."""
    table = _table("framework", "usable", "how")
    for one in found:
        name, interpreter = one.spec.name, one.interpreter
        how = "nothing to install" if one.spec.unavailable else f"netdyno frameworks install {name}"
        if interpreter is not None:
            how = f"{interpreter.origin}: {interpreter.path}"
        table.add_row(Text(name), Text("yes" if interpreter else "no"), Text(how))
    return table


def _facts(machine: Machine) -> dict[str, str]:
    gib = 2**30
    memory = f"{machine.memory_bytes / gib:.1f} GiB" if machine.memory_bytes else ""
    if machine.memory_limit_bytes:
        memory += f", limited to {machine.memory_limit_bytes / gib:.1f} GiB"
    physical = machine.physical_cores or "unknown"
    return {
        "id": machine_id(machine),
        "processor": machine.cpu,
        "cores": f"{physical} physical, {machine.logical_cores} logical, {machine.usable_cores:g} usable",
        "memory": memory,
        "virtualisation": ", ".join(filter(None, [machine.hypervisor, machine.container])) or "none seen",
        "system": f"{machine.system}, kernel {machine.kernel}",
        "GPUs": ", ".join(f"{gpu.name} (driver {gpu.driver})" for gpu in machine.gpus) or "none",
    }


def _gpu_now(state: GpuState) -> dict[str, str]:
    facts, now, gib = state.facts, state.readings, 2**30
    power_w = now.get("power_instant_w", now.get("power_average_w"))
    of_memory = _of(now.get("memory_used_bytes"), facts.memory_bytes, "GiB", gib)
    processes = now.get("processes")
    return {
        "name": f"{facts.name}, compute capability {facts.compute_capability or 'unknown'}",
        "power": _of(power_w, facts.power_cap_w, "W"),
        "SM clock": _of(now.get("sm_mhz"), facts.largest_sm_mhz, "MHz"),
        "memory clock": _of(now.get("memory_mhz"), facts.largest_memory_mhz, "MHz"),
        "temperature": f"{now['temperature_c']:.0f} °C" if "temperature_c" in now else "",
        "memory used": of_memory,
        "utilisation": f"{now['utilisation']:.0%}" if "utilisation" in now else "",
        "processes": f"{processes:.0f} computing" if processes is not None else "",
        "link": f"PCIe {facts.pcie_generation} ×{facts.pcie_width}" if facts.pcie_generation else "",
    }


def _of(now: float | None, most: float | None, unit: str, size: float = 1.0) -> str:
    """'79 of 700 W'; empty if it is not reported."""
    if now is None:
        return ""
    digits = 0 if size == 1.0 else 1
    limit = f" of {most / size:.{digits}f}" if most is not None else ""
    return f"{now / size:.{digits}f}{limit} {unit}"


def _table(*titles: str) -> Table:
    table = PlainTable(box=None, pad_edge=False, header_style="bold")
    for number, title in enumerate(titles):
        table.add_column(title, overflow="fold", no_wrap=number == 0)
    return table


app = one_command(
    doctor,
    """
    netdyno doctor
    netdyno doctor --json
    """,
)
