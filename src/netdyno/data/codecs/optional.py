"""Where do packages come from that only some formats need? From `netdyno[data]`; a missing one is a clear error."""

import importlib
from types import ModuleType

from netdyno.errors import NetdynoError


def optional_module(name: str, package: str, purpose: str) -> ModuleType:
    """Import a module of an optional package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"{package} is needed {purpose} and is not installed."
        raise NetdynoError(message, hint="pip install 'netdyno[data]'") from error
