"""What was measured: records, figures, statistics, the store, comparisons.

Called, it is the function of the public API that has its name: `netdyno.results("network=lenet")`.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class _Results(ModuleType):
    """Importing this package puts it in the place of `netdyno.results`, so it answers as the function does."""

    def __call__(self, selector: str = "", *, store: str | None = None) -> Any:
        return importlib.import_module("netdyno.library").results(selector, store)


sys.modules[__name__].__class__ = _Results
