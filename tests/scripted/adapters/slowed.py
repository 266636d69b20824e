"""The paced worker, slowed by 5 %: what a comparison must find."""

from netdyno_worker.adapters import paced
from netdyno_worker.adapters.null import trainer as null

versions = null.versions
UNSUPPORTED = null.UNSUPPORTED


def build(job):
    return paced.Paced(null.build(job), 1.05 * paced.STEP_S)
