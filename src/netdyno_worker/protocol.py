"""How the worker talks to the host: a request in JSON, events as JSON lines, exactly one last word."""

import json
import math
import time

PROTOCOL = 2


def read_request(path):
    """The request, after checking that it is for this protocol."""
    with open(path) as file:
        request = json.load(file)
    if request["protocol"] != PROTOCOL:
        raise ValueError("expected a request of protocol %d, received %r" % (PROTOCOL, request["protocol"]))
    return request


class Events(object):
    """Writes one JSON object a line, flushed at once, each with a monotonic time stamp."""

    def __init__(self, file, clock=time.monotonic):
        self._file = file
        self._clock = clock

    def __call__(self, event, **fields):
        line = {"event": event, "at": self._clock()}
        line.update(fields)
        self._file.write(json.dumps(_finite(line), sort_keys=True) + "\n")
        self._file.flush()


def _finite(value):
    """JSON has neither infinity nor not-a-number: both become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
