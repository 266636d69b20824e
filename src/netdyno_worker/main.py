"""What a worker does: read a request, do its task, and say exactly one last word."""

import ctypes
import importlib
import os
import platform
import signal
import sys
import traceback

from netdyno_worker import adapters
from netdyno_worker.contract import OutOfMemory, Unsupported, load_adapter
from netdyno_worker.protocol import PROTOCOL, Events, read_request

HOST = "NETDYNO_HOST_PID"  # the environment variable with the process id of the host
LONGEST_REASON = 2000
LONGEST_TRACEBACK = 8000

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
    die_with_host()
    request_path, events_path = arguments[:2]
    with open(events_path, "a") as file:
        emit = Events(file)
        try:
            request = read_request(request_path)
            keep_to_cpus(request["cpus"])
            adapter = find_adapter(request)
            if "hold" in arguments[2:] and not sys.stdin.readline():
                return 1  # the host has gone
            emit("hello", protocol=PROTOCOL, worker=request["worker"], **_versions(adapter))
            find_task(request["task"]).run(adapter, request, emit)
        except Unsupported as error:
            emit("unsupported", reason=str(error)[:LONGEST_REASON])
        except Exception as error:  # the last word must be said whatever a framework raises
            _report_failure(emit, error)
        else:
            emit("done")
            return 0
    return 1


def find_adapter(request):
    """The request's adapter, which may lie in a folder of its own, as may the framework's modules."""
    sys.path[1:1] = request["module_path"]
    adapters.__path__.extend(request["adapter_path"])
    return load_adapter(request["adapter"])


def find_task(name):
    """The module of a task."""
    try:
        return importlib.import_module("netdyno_worker.tasks." + name.replace("-", "_"))
    except ImportError as error:
        raise Unsupported("this worker has no task '%s': %s" % (name, error))


def die_with_host():
    """Ask Linux to kill this process when the host dies; one that died before the request was made counts too."""
    if sys.platform.startswith("linux"):
        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
    host = os.environ.get(HOST)
    if host and os.getppid() != int(host):
        os._exit(1)


def keep_to_cpus(cpus):
    """Stay on these CPUs: some frameworks obey nothing else. An empty list restricts nothing."""
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def _versions(adapter):
    return {"versions": adapter.versions(), "python": platform.python_version(), "pid": os.getpid()}


def _report_failure(emit, error):
    text = "%s: %s" % (type(error).__name__, error)
    traceback.print_exc()
    sys.stderr.flush()  # before the last word: the host may end this process once it has read it
    lowered = text.lower()
    if isinstance(error, (MemoryError, OutOfMemory)) or any(word in lowered for word in OUT_OF_MEMORY_WORDS):
        emit("out_of_memory", reason=text[:LONGEST_REASON])
    else:
        emit("failed", reason=text[:LONGEST_REASON], traceback=traceback.format_exc()[-LONGEST_TRACEBACK:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
