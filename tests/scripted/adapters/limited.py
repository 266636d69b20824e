"""A framework with little memory: NETDYNO_MEMORY is JSON, {"images": how many fit, "then": "what happens above"}.

What happens is one of scripted's behaviours or one of those below; "version" is the library's.
"""

import json
import os
import sys

from netdyno_worker.adapters import scripted
from netdyno_worker.adapters.null import trainer as null

UNSUPPORTED = null.UNSUPPORTED


def versions():
    return {"limited": _memory().get("version", "1")}


def build(job):
    return Limited(null.build(job), job.program.inputs[0].shape[0])


class Limited:
    """Runs out in a step, as most do: building and feeding need less."""

    def __init__(self, inner, images):
        self._inner = inner
        self._images = images

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def step(self):
        memory = _memory()
        if self._images > memory["images"]:
            BEHAVIOURS[memory.get("then", "say how much")]()
        self._inner.step()


def _memory():
    return json.loads(os.environ["NETDYNO_MEMORY"])


def _say_how_much():
    raise MemoryError("Tried to allocate 2.50 GiB")


def _give_up():
    """As a library in C++ does: a word on stderr, a trace of calls, no exception that Python could see."""
    sys.stderr.write("terminate called: cudaMalloc failed: out of memory\nStack trace:\n (0) f\n (1) g\n (2) h\n")
    sys.stderr.flush()
    os.abort()


BEHAVIOURS = dict(scripted.BEHAVIOURS, **{"say how much": _say_how_much, "give up": _give_up})
