"""Which execution is the fastest? Each is tried for a short time, in one process, because importing and drawing
weights can take longer.

Where several processes probe at the same time, all compile side by side; then each times its own while others wait.
"""

import gc
import traceback
from contextlib import contextmanager

from netdyno_worker.build import build
from netdyno_worker.contract import Unsupported
from netdyno_worker.feed.batches import synthetic_batch
from netdyno_worker.feed.weights import Weights
from netdyno_worker.program import read_program
from netdyno_worker.timing import fastest_block


def run(adapter, request, emit):
    program = read_program(request["programme"])
    weights, batch = Weights(program, request["seed"], keep=True), synthetic_batch(program, request["seed"])

    def attempt(execution, timed):
        asked = dict(request, execution=execution)
        try:
            trainer, _ = build(adapter, asked, asked, emit, weights)
            trainer.feed(batch)
            trainer.step()
            trainer.wait()
            return {"seconds_per_step": fastest_block(trainer, request["seconds"])} if timed else {}
        except Unsupported as error:
            return {"absent": str(error)[:2000]}
        except Exception as error:  # one that breaks must not keep the others from being tried
            traceback.print_exc()
            return {"absent": ("%s: %s" % (type(error).__name__, error))[:2000]}
        finally:
            trainer = None
            gc.collect()

    with turn(request["turn"], alone=False):
        for execution in request["compile"]:
            attempt(execution, timed=False)
    if hasattr(gc, "freeze"):
        gc.freeze()  # or each attempt would end with a collection of all that compilers left, a third of a second
    with turn(request["turn"], alone=True):
        for execution in request["executions"]:
            emit("probe", execution=execution, **attempt(execution, timed=True))


@contextmanager
def turn(path, alone):
    """Of those that name the same file, many go on together, or one alone when none of the others does."""
    if path is None:
        yield
        return
    import fcntl

    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
