"""The paced worker, slowed by 5 %: what a comparison must find."""

from netdyno_worker.adapters import null, paced

versions = null.versions
UNSUPPORTED = null.UNSUPPORTED


def build(job):
    return paced.Paced(null.build(job), 1.05 * paced.STEP_S)
