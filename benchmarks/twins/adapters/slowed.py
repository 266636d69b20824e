"""The default framework's adapter, each step made 5 % longer: what a comparison must find."""

import time

from netdyno_worker.adapters import pytorch

SHARE = 0.05

versions = pytorch.versions
OPS = pytorch.OPS
UNSUPPORTED = pytorch.UNSUPPORTED


def build(job):
    return _Slowed(pytorch.build(job))


class _Slowed:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def step(self):
        start = time.perf_counter()
        self._inner.step()
        self._inner.wait()
        end = time.perf_counter()
        end += SHARE * (end - start)
        while time.perf_counter() < end:
            pass
