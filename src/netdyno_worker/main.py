"""What a worker does: read a request, do its task, and say exactly one last word."""

import ctypes
import gc
import os
import platform
import signal
import sys
import time
import traceback
from contextlib import contextmanager

import numpy as np

from netdyno_worker import adapters
from netdyno_worker.batches import blank_batch, synthetic_batch
from netdyno_worker.contract import Job, OutOfMemory, Unsupported, load_adapter
from netdyno_worker.evaluate import Examiner, folded_values
from netdyno_worker.fed import measure_fed, open_stream
from netdyno_worker.loader import Batches
from netdyno_worker.measure import Settings, emit_memory, measure, probe
from netdyno_worker.memory import host_peak_bytes
from netdyno_worker.packed import open_packed
from netdyno_worker.program import constants, read_program, shapes
from netdyno_worker.protocol import PROTOCOL, Events, read_request
from netdyno_worker.prove import compare_with, prove, write_arrays
from netdyno_worker.train import open_course, train
from netdyno_worker.weights import Blank, Weights

# How frameworks and the C++ library say that memory ran out, in lower case.
OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "outofmemory",
    "resource_exhausted",
    "resource exhausted",
    "can't allocate memory",
    "cannot allocate memory",
    "memory allocation failed",
    "oom when allocating",
    "alloc_failed",
    "bad_alloc",
)


def main(arguments):
    """`request.json events.jsonl [hold]` → exit code: 0 if the last word was `done`, else 1."""
    request_path, events_path = arguments[:2]
    _die_with_the_host()
    with open(events_path, "a") as file:
        emit = Events(file)
        try:
            request = read_request(request_path)
            keep_to_cpus(request["threads"])
            sys.path[1:1] = request["module_path"]
            adapters.__path__.extend(request["adapter_path"])
            adapter = load_adapter(request["adapter"])
            if "hold" in arguments[2:] and not sys.stdin.readline():
                return 1  # there is nobody any more to say go on
            emit("hello", protocol=PROTOCOL, worker=request["worker"], **_versions(adapter))
            TASKS[request["task"]](adapter, request, emit)
        except Unsupported as error:
            emit("unsupported", reason=str(error))
        except Exception as error:  # the last word must be said whatever a framework raises
            _say_failure(emit, error)
        else:
            emit("done")
            return 0
    return 1


def _measure(adapter, request, emit):
    settings = Settings(**request["settings"])
    if request.get("files") is None:
        measure(prepare(adapter, request, emit), settings, emit)
        return
    trainer, program = build(adapter, request, request, emit)
    measure_fed(trainer, open_stream(trainer, program, request), settings, emit)


def _prove(adapter, request, emit):
    """Several cases in one process: importing a framework can take longer than proving a small network."""
    for case in request["cases"]:
        try:
            emit("proof", case=case["name"], **_prove_case(adapter, request, case, emit))
        except Unsupported as error:
            emit("proof", case=case["name"], unsupported=str(error))


def _prove_case(adapter, request, case, emit):
    trainer, program = build(adapter, request, case, emit)
    batches = [synthetic_batch(program, request["seed"] + number) for number in range(case["batches"])]
    arrays = prove(trainer, batches, case["steps"])
    if case["role"] == "reference":
        write_arrays(case["arrays"], arrays, constants(program))
        return {}
    return {"errors": compare_with(case["arrays"], arrays)}


def _probe(adapter, request, emit):
    """A short look at several executions, in one process because importing and drawing weights can take longer.

    Where others look at the same time, all compile side by side; then each times its own while the others wait.
    """
    program = read_program(request["training"])
    weights, batch = Weights(program, request["seed"], keep=True), synthetic_batch(program, request["seed"])

    def look(execution, timed):
        asked = dict(request, execution=execution)
        try:
            trainer, _ = build(adapter, asked, asked, emit, weights)
            trainer.feed(batch)
            trainer.step()
            trainer.wait()
            return {"seconds_per_step": probe(trainer, request["seconds"])} if timed else {}
        except Unsupported as error:
            return {"absent": str(error)}
        except Exception as error:  # one that breaks must not keep the others from being tried
            traceback.print_exc()
            return {"absent": "%s: %s" % (type(error).__name__, error)}
        finally:
            trainer = None
            gc.collect()

    with turn(request["turn"], alone=False):
        for execution in request["compile"]:
            look(execution, timed=False)
    if hasattr(gc, "freeze"):
        gc.freeze()  # or every look would end with going through all that compilers left, a third of a second each
    with turn(request["turn"], alone=True):
        for execution in request["executions"]:
            emit("probe", execution=execution, **look(execution, timed=True))


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


def _fit(adapter, request, emit):
    """Does it fit? A few steps, so that workspaces and the optimizer's moments are there; values do not matter."""
    program = read_program(request["training"])
    trainer, _ = build(adapter, request, request, emit, Blank(program))
    trainer.feed(blank_batch(program))
    for _ in range(request["steps"]):
        trainer.step()
        trainer.wait()
    emit_memory(trainer, emit)


def _train(adapter, request, emit):
    """Files are opened and checked before anything is built."""
    plan, program = request["plan"], read_program(request["training"])
    course = open_course(plan, program, request["seed"])
    test = Batches(open_packed(plan["test"]), program, plan["transforms"])
    examiner = Examiner(test, plan["loading_threads"], plan["logits"], _builder_beside(adapter, request))
    trainer, _ = build(adapter, request, request, emit)
    train(trainer, course, examiner, emit)


def _builder_beside(adapter, request):
    """What builds the graph for evaluation from a training's parameters; None where the training's own answers."""
    beside = request["plan"]["evaluation"]
    if beside is None:
        return None
    program = read_program(beside["training"])

    def build_beside(parameters, number):
        values = dict(parameters, **folded_values(beside["folded"], parameters, shapes(program)))
        job = _job(request, program, lambda name: np.array(values[name], np.float32, order="C"))
        # Building seeds the framework: with the training's seed its draws would begin again after every evaluation.
        return adapter.build(job._replace(seed=request["seed"] + number))

    return build_beside


TASKS = {"measure": _measure, "prove": _prove, "probe": _probe, "fit": _fit, "train": _train}


def prepare(adapter, request, emit):
    """A trainer that has been built and fed: what a run measures."""
    trainer, program = build(adapter, request, request, emit)
    trainer.feed(synthetic_batch(program, request["seed"]))
    return trainer


def build(adapter, request, case, emit, weights=None):
    """A trainer for the case's training and its program, after saying `built`; weights are drawn unless given."""
    program = read_program(case["training"])
    _refuse_unsupported_ops(adapter, program)
    weights = weights or Weights(program, request["seed"])
    start = time.perf_counter()
    trainer = adapter.build(_job(request, program, weights.initial))
    seconds = time.perf_counter() - start
    emit(
        "built",
        seconds=seconds,
        parameters=sum(_size(p.shape) for p in program.parameters if p.trainable),
        weights=weights.digest(),
        settings=trainer.settings(),
        host_peak_bytes=host_peak_bytes(),
    )
    return trainer, program


def _job(request, program, initial):
    return Job(
        program=program,
        device=request["device"],
        precision=request["precision"],
        execution=request["execution"],
        threads=request["threads"],
        initial=initial,
        seed=request["seed"],
    )


def _refuse_unsupported_ops(adapter, program):
    for node in program.nodes:
        if node.op in adapter.UNSUPPORTED:
            raise Unsupported("%s (node '%s'): %s" % (node.op, node.name, adapter.UNSUPPORTED[node.op]))


def _versions(adapter):
    return {"versions": adapter.versions(), "python": platform.python_version(), "pid": os.getpid()}


def _say_failure(emit, error):
    text = "%s: %s" % (type(error).__name__, error)
    lowered = text.lower()
    if isinstance(error, (MemoryError, OutOfMemory)) or any(word in lowered for word in OUT_OF_MEMORY_WORDS):
        emit("out_of_memory", reason=text[:2000])
    else:
        emit("failed", reason=text[:2000], traceback=traceback.format_exc()[-8000:])
    traceback.print_exc()


def keep_to_cpus(threads):
    """Stay on as many CPUs as there are threads: some frameworks obey nothing else.

    On the last ones, because the first serve most interrupts and whatever else runs.
    """
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        if threads < len(usable):
            os.sched_setaffinity(0, usable[-threads:])


def _die_with_the_host():
    """Ask Linux to end this process when the host dies, so that a killed host leaves nothing measuring."""
    if sys.platform.startswith("linux"):
        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


def _size(shape):
    size = 1
    for length in shape:
        size *= length
    return size


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
