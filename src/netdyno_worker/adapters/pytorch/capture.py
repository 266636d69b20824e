"""How a whole step becomes one CUDA graph: the device then repeats it without a launch for each op."""

import torch

WARM_UPS = 3  # cuDNN chooses its algorithms and optimizers make their moments before anything is recorded


class Captured(object):
    """A recorded step. Recording leaves parameters, statistics and moments as they were."""

    def __init__(self, step, optimizers, tensors):
        before = [(tensor, tensor.detach().cpu()) for tensor in tensors]
        _run_aside(step)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # what the warm-up took is not needed twice
        torch.cuda.reset_peak_memory_stats()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            step()
        # Replays allocate nothing, so this is the only time at which the step's memory can be read.
        self.peak_bytes = torch.cuda.max_memory_allocated()
        with torch.no_grad():
            for tensor, value in before:
                tensor.copy_(value)
            for optimizer in optimizers:
                _forget_moments(optimizer)
        self.replay = self._graph.replay


def _run_aside(step):
    """On a stream of its own, as recording will be."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            step()
    torch.cuda.current_stream().wait_stream(stream)


def _forget_moments(optimizer):
    """Zero is where moments and counts of steps start, and the graph reads these very tensors."""
    for state in optimizer.state.values():
        for value in state.values():
            if torch.is_tensor(value):
                value.zero_()
