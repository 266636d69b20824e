"""How fast is the forward pass alone? Timed in blocks like training steps."""

from netdyno_worker.build import emit_memory, prepare
from netdyno_worker.contract import Unsupported
from netdyno_worker.timing import Timing, time_block, time_until_sure, warm_up


def run(adapter, request, emit):
    timing = Timing(**request["timing"])
    trainer = prepare(adapter, request, emit)
    forward = Forward(trainer)
    emit("first_step", seconds=time_block(forward, 1))
    steps = warm_up(forward, timing, emit)
    trainer.forget_peak()
    time_until_sure(forward, timing, steps, emit)
    emit_memory(trainer, emit)


class Forward(object):
    """A trainer whose step is the first stage of its own."""

    def __init__(self, trainer):
        stages = trainer.stages()
        if not stages or stages[0][0] != "forward":
            raise Unsupported("this framework's adapter cannot do the forward pass alone")
        self.step = stages[0][1]
        self.wait = trainer.wait
