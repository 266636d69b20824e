"""Where and with what the results were measured: each machine in a line, and the versions of everything used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.frameworks.spec import Spec, specs
from netdyno.report.charts.palette import look
from netdyno.report.names import device_name, is_instrument
from netdyno.results.record import Record
from netdyno.results.result import Result

MOST_MACHINES = 6
MOST_VERSIONS = 4  # of one framework
SHARED = ("python", "numpy")  # in the versions of many a framework, and the version of none
GIB = 2.0**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The hardware of one machine in words. `id` is how records name it."""

    id: str
    host: str
    gpus: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the first lines of the page say; `left_out` machines are not described."""

    machines: tuple[Machine, ...]
    left_out: int
    versions: tuple[str, ...]  # such as "Alpha 2: 2.9.1"; Python and netdyno last


class Surveyor:
    """Takes results one at a time and keeps what `surroundings` needs."""

    def __init__(self) -> None:
        self._specs = specs()
        self._machines: dict[str, tuple[str, Machine]] = {}  # the newest description of each, with its time
        self._frameworks: dict[str, set[str]] = {}
        self._pythons: set[str] = set()
        self._netdynos: set[str] = set()

    def add(self, result: Result) -> None:
        last = result.records[-1]
        before, known = self._machines.get(result.machine, ("", None))
        if known is None or last.started_at > before:
            self._machines[result.machine] = last.started_at, described(result.machine, last.environment)
        self._netdynos.add(last.netdyno_version)
        self._pythons.add(last.versions.get("python", ""))
        if not is_instrument(result.cell.framework):
            self._frameworks.setdefault(result.cell.framework, set()).add(version_of(last, self._specs))

    def surroundings(self) -> Surroundings:
        """The machines that were used last come first."""
        newest = [machine for _, machine in sorted(self._machines.values(), key=lambda each: each[0], reverse=True)]
        ordered = sorted(self._frameworks, key=lambda name: (look(name).order, name))
        own = [line for name in ordered if (line := _versions(look(name).name, self._frameworks[name]))]
        shared = [_versions("Python", self._pythons), _versions("netdyno", self._netdynos)]
        return Surroundings(
            machines=tuple(newest[:MOST_MACHINES]),
            left_out=max(0, len(newest) - MOST_MACHINES),
            versions=(*own, *filter(None, shared)),
        )


def described(machine: str, environment: Mapping[str, Any]) -> Machine:
    """In the words of a buyer: processor, cores, memory, system; GPUs with their memory and driver."""
    cpu = device_name(environment.get("cpu")) or "unnamed processor"
    hypervisor = environment.get("hypervisor")
    virtual = "virtual machine" if isinstance(hypervisor, str) and hypervisor else ""
    system = environment.get("system")
    parts = [cpu, *_cores(environment), *_memory(environment), virtual, system if isinstance(system, str) else ""]
    gpus = environment.get("gpus")
    return Machine(
        id=machine,
        host=", ".join(filter(None, parts)),
        gpus=tuple(_gpus(gpus if isinstance(gpus, list) else [])),
    )


def version_of(record: Record, specs: Mapping[str, Spec]) -> str:
    """The version of the framework itself; of one without a spec, that of the first library it names."""
    spec = specs.get(record.cell.framework)
    names = [spec.module, spec.distribution] if spec else []
    others = [name for name in record.versions if name not in SHARED]
    return next((record.versions[name] for name in [*names, *others] if name in record.versions), "")


def _versions(name: str, found: Iterable[str]) -> str:
    """Such as "Python: 3.11.7, 3.12.3"; empty if no version is known."""
    known = sorted(version for version in found if version)
    more = f" and {len(known) - MOST_VERSIONS} more" if len(known) > MOST_VERSIONS else ""
    return f"{name}: {', '.join(known[:MOST_VERSIONS])}{more}" if known else ""


def _cores(environment: Mapping[str, Any]) -> Iterable[str]:
    names = ("physical_cores", "logical_cores", "usable_cores")
    physical, logical, usable = (_number(environment, name) for name in names)
    if cores := physical or logical:
        threads = f" ({logical:g} threads)" if logical > cores else ""
        yield f"{cores:g} core{'' if cores == 1 else 's'}{threads}"
    if 0 < usable < max(physical, logical):
        yield f"{usable:g} usable"


def _memory(environment: Mapping[str, Any]) -> Iterable[str]:
    memory, limit = (_number(environment, name) for name in ("memory_bytes", "memory_limit_bytes"))
    if memory:
        limited = f" ({limit / GIB:.0f} GiB usable)" if limit and limit < memory else ""
        yield f"{memory / GIB:.0f} GiB memory{limited}"


def _gpus(gpus: Iterable[Any]) -> list[str]:
    """Equal ones once, with their number."""
    counts: dict[str, int] = {}
    for gpu in gpus:
        if isinstance(gpu, Mapping):
            memory, driver = _number(gpu, "memory_bytes"), gpu.get("driver")
            parts = [device_name(gpu.get("name")) or "unnamed GPU", f"{memory / GIB:.0f} GiB" if memory else ""]
            parts.append(f"driver {driver}" if isinstance(driver, str) and driver else "")
            text = ", ".join(filter(None, parts))
            counts[text] = counts.get(text, 0) + 1
    return [f"{count} × {text}" if count > 1 else text for text, count in counts.items()]


def _number(described: Mapping[str, Any], name: str) -> float:
    """0 where an imported record has none."""
    value = described.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0.0
