"""The kinds of measurement, one module each, found by name; and the helpers that measurements need."""

import importlib
import pkgutil

from netdyno.errors import unknown
from netdyno.workloads.workload import Workload


def find_workload(name: str) -> Workload:
    """The workload of that name: `WORKLOAD` of the module with it."""
    module_name = name.replace("-", "_")
    if module_name in _modules():
        module = importlib.import_module(f"{__name__}.{module_name}")
        if hasattr(module, "WORKLOAD"):
            workload: Workload = module.WORKLOAD
            return workload
    raise unknown("workload", name, workload_names())


def workload_names() -> list[str]:
    """Everything that can measure a cell."""
    modules = (importlib.import_module(f"{__name__}.{name}") for name in _modules())
    return [module.WORKLOAD.name for module in modules if hasattr(module, "WORKLOAD")]


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]
