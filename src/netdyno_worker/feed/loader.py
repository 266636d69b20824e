"""Batches made by threads ahead of who takes them."""

import threading
import time


class Loader(object):
    """Threads that make batches 0, 1, 2, … ahead of who takes them, in a fixed number of slots."""

    def __init__(self, batches, threads):
        self._batches = batches
        self._changed = threading.Condition()
        self._free = [batches.room() for _ in range(2 * threads + 1)]
        self._ready = {}  # {number: slot, or the error that came instead}
        self._held = None  # the batch that was taken last
        self._claimed = self._taken = 0
        self._stopped = False
        self._seconds = {"read_s": 0.0, "transform_s": 0.0, "wait_s": 0.0}
        self._threads = [threading.Thread(target=self._work) for _ in range(threads)]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def take(self):
        """The next batch {input name: array}, whose memory is used again when another is taken."""
        start = time.perf_counter()
        with self._changed:
            self._give_back()
            while self._taken not in self._ready:
                if self._stopped:
                    raise RuntimeError("expected a loader at work, received one that was stopped")
                self._changed.wait()
            self._held = self._ready.pop(self._taken)
            self._taken += 1
            self._seconds["wait_s"] += time.perf_counter() - start
        if isinstance(self._held, Exception):
            raise self._held
        return self._held

    def seconds(self):
        """{"read_s", "transform_s": of all threads together, "wait_s": of who took}."""
        with self._changed:
            return dict(self._seconds)

    def stop(self):
        """Threads end behind the batch that they are at; it is waited for."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _give_back(self):
        if isinstance(self._held, dict):
            self._free.append(self._held)
            self._held = None
            self._changed.notify_all()

    def _work(self):
        claim = self._claim()
        while claim is not None:
            number, slot = claim
            try:
                read_s, transform_s = self._batches.make(number, slot)
            except Exception as error:  # it reaches who takes this batch
                self._put(number, error)
                return
            self._put(number, slot, read_s, transform_s)
            claim = self._claim()

    def _claim(self):
        """The next number and room for its batch, claimed together so that the lowest number always has room."""
        with self._changed:
            while not self._free and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return None
            self._claimed += 1
            return self._claimed - 1, self._free.pop()

    def _put(self, number, result, read_s=0.0, transform_s=0.0):
        with self._changed:
            self._ready[number] = result
            self._seconds["read_s"] += read_s
            self._seconds["transform_s"] += transform_s
            self._changed.notify_all()
