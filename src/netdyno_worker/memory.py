"""How much host memory this process has needed."""

import resource
import sys


def host_peak_bytes():
    """The largest resident size so far; Linux counts it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
