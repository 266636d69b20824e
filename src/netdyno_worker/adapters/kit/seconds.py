"""Where did a pipeline's time go: its stages as far as they are known, and the waiting of who took a batch."""

import time


class Seconds(object):
    """Adds up. Stages count the time of all threads and processes together."""

    def __init__(self, stages=()):
        self._found = dict.fromkeys(tuple(stages) + ("wait_s",), 0.0)

    def add(self, stages, seconds):
        for stage, more in zip(stages, seconds):
            self._found[stage] += more

    def waited(self, function, *arguments):
        """What the function returns; the time that it takes was waited."""
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self._found["wait_s"] += time.perf_counter() - start

    def so_far(self):
        return dict(self._found)
