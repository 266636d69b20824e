"""Does a batch fit? A few steps, so that workspaces and the optimizer's moments are there; values do not matter."""

from netdyno_worker.build import build, emit_memory
from netdyno_worker.feed.batches import blank_batch
from netdyno_worker.feed.weights import Blank
from netdyno_worker.program import read_program


def run(adapter, request, emit):
    program = read_program(request["programme"])
    trainer, _ = build(adapter, request, request, emit, Blank(program))
    trainer.feed(blank_batch(program))
    for _ in range(request["steps"]):
        trainer.step()
        trainer.wait()
    emit_memory(trainer, emit)
