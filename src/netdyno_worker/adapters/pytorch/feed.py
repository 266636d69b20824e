"""How batches are copied to PyTorch's device: into the same tensors each time, on CUDA while steps compute."""

import torch


def feeder(device):
    """function(held, arrays) that copies each numpy array into the tensor held for it."""
    return Ahead().copy if device == "cuda" else _copy


def _copy(held, arrays):
    for tensor, array in zip(held, arrays):
        tensor.copy_(torch.from_numpy(array))


class Ahead(object):
    """Two sets of staging memory in turn, allocated when first needed: a batch that is fed once needs none."""

    def __init__(self):
        self._sets = [None, None]
        self._number = 0

    def copy(self, held, arrays):
        place = self._number % 2
        self._number += 1
        if self._sets[place] is None:
            self._sets[place] = _Staging(held)
        self._sets[place].copy(held, arrays)


class _Staging(object):
    """Page-locked memory, from where a stream of its own copies to the device while steps compute. Only the last
    copy, on the device, waits for the steps before it; so all steps, recorded ones too, read the same tensors."""

    def __init__(self, held):
        self._stream = torch.cuda.Stream()
        self._locked = [torch.empty_like(tensor, device="cpu").pin_memory() for tensor in held]
        self._placed = [torch.empty_like(tensor) for tensor in held]
        self._arrived = torch.cuda.Event()
        self._used = torch.cuda.Event()
        self._used.record()  # earlier work on this memory may not be finished

    def copy(self, held, arrays):
        self._arrived.synchronize()  # of two batches ago; waits only if copying is the bottleneck
        _copy(self._locked, arrays)
        self._stream.wait_event(self._used)
        with torch.cuda.stream(self._stream):
            for placed, locked in zip(self._placed, self._locked):
                placed.copy_(locked, non_blocking=True)
            self._arrived.record()
        torch.cuda.current_stream().wait_event(self._arrived)
        for tensor, placed in zip(held, self._placed):
            tensor.copy_(placed)
        self._used.record()
