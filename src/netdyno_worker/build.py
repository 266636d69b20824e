"""How a trainer is built from a request, and how much memory it takes."""

import resource
import sys
import time

from netdyno_worker.contract import Job, Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.feed.weights import Weights
from netdyno_worker.program import needs, read_program


def prepare(adapter, request, emit):
    """A trainer that has been built and fed with a synthetic batch: what a run times."""
    trainer, program = build(adapter, request, request, emit)
    trainer.feed(synthetic_batch(program, request["seed"]))
    return trainer


def build(adapter, request, case, emit, weights=None):
    """A trainer of the case's programme, and the programme, after `built`; weights are drawn unless given."""
    program = read_program(case["programme"])
    _refuse_unsupported_ops(adapter, program)
    weights = weights or Weights(program, request["seed"])
    start = time.perf_counter()
    trainer = adapter.build(job_of(request, program, weights.initial))
    seconds = time.perf_counter() - start
    emit(
        "built",
        seconds=seconds,
        parameters=sum(_size(p.shape) for p in program.parameters if p.trainable),
        weights=weights.digest(),
        settings=dict(trainer.settings(), **_fused(program)),
        host_peak_bytes=host_peak_bytes(),
    )
    return trainer, program


def job_of(request, program, initial):
    """What an adapter is asked to build."""
    return Job(
        program=program,
        device=request["device"],
        precision=request["precision"],
        execution=request["execution"],
        threads=request["threads"],
        initial=initial,
        seed=request["seed"],
    )


def emit_memory(trainer, emit):
    """Report how much memory was needed."""
    emit(
        "memory",
        host_peak_bytes=host_peak_bytes(),
        device_peak_bytes=trainer.peak_bytes(),
        device_reserved_bytes=trainer.reserved_bytes(),
    )


def host_peak_bytes():
    """The largest resident size so far; Linux counts it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _fused(program):
    """Which composite ops the framework computes with kernels of its own."""
    ops = {node.op for node in program.nodes if program.facts[node.op].composite}
    return {"fused": " ".join(sorted(ops))} if ops else {}


def _refuse_unsupported_ops(adapter, program):
    for node in program.nodes:
        for need in needs(program, node):
            if need in adapter.UNSUPPORTED:
                raise Unsupported("%s (node '%s'): %s" % (need, node.name, adapter.UNSUPPORTED[need]))


def _size(shape):
    size = 1
    for length in shape:
        size *= length
    return size
