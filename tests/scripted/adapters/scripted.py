"""A worker that misbehaves on demand: NETDYNO_SCRIPT is JSON, {"batch": "what happens"}.

A number as what happens is the seconds that a step takes; a missing batch trains like the null adapter.
NETDYNO_RANKS is the same by rank, NETDYNO_SEEDS by seed.
"""

import json
import os
import signal
import sys
import time

from netdyno_worker.adapters import paced
from netdyno_worker.adapters.null import trainer as null
from netdyno_worker.contract import Unsupported

FIRST_SEED = 20180907  # that of seed 0


def versions():
    return {"scripted": "1"}


def build(job):
    request = _request()
    what = _script("NETDYNO_RANKS").get(str(request["rank"]))
    what = what or _script("NETDYNO_SEEDS").get(str(request["seed"] - FIRST_SEED))
    what = what or _script("NETDYNO_SCRIPT").get(str(job.program.inputs[0].shape[0]), "train")
    if isinstance(what, float):
        return paced.Paced(null.build(job), what)
    BEHAVIOURS[what]()
    return null.build(job)


def _script(variable):
    return json.loads(os.environ.get(variable, "{}"))


def _request():
    with open(sys.argv[1]) as file:
        return json.load(file)


def _say(**event):
    with open(sys.argv[2], "a") as file:
        file.write(json.dumps(event) + "\n")


def _crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def _exit():
    sys.stderr.write("the library said goodbye\n")
    sys.stderr.flush()
    os._exit(3)


def _hang():
    time.sleep(3600)


def _hang_stubbornly():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)


def _leave_a_child():
    if os.fork() == 0:
        time.sleep(3600)


def _flood():
    for _ in range(300):
        sys.stdout.write("x" * 1000000)
    sys.stdout.flush()


def _half_line():
    with open(sys.argv[2], "a") as file:
        file.write('{"event": "sample", "ste')
    os._exit(1)


def _garbage():
    with open(sys.argv[2], "a") as file:
        file.write("not json\n")


def _unknown_event():
    _say(event="applause", at=0.0)


def _old_protocol():
    _say(event="hello", at=0.0, protocol=0, versions={}, python="3")


def _two_last_words():
    _say(event="done", at=0.0)


def _done_at_once():
    _say(event="done", at=0.0)
    os._exit(0)


def _impossible_sample():
    _say(event="sample", at=0.0, steps=1, seconds=-1.0)


def _not_a_number():
    _write('{"event": "sample", "at": 0.0, "steps": 1, "seconds": NaN}\n')


def _text_for_bytes():
    _say(event="memory", at=0.0, host_peak_bytes="x")


def _huge_number():
    _write('{"event": "memory", "at": 0.0, "host_peak_bytes": %s}\n' % ("9" * 5000))


def _true_for_steps():
    _say(event="sample", at=0.0, steps=True, seconds=1.0)


def _terminal_commands():
    _say(event="hello", at=0.0, protocol=2, versions={"x": "\x1b[31m"})


def _fifo():
    os.unlink(sys.argv[2])
    os.mkfifo(sys.argv[2])
    time.sleep(3600)


def _device():
    os.unlink(sys.argv[2])
    os.symlink("/dev/zero", sys.argv[2])
    time.sleep(3600)


def _write(text):
    with open(sys.argv[2], "a") as file:
        file.write(text)


def _out_of_memory():
    raise MemoryError("wanted 12 GiB")


def _device_out_of_memory():
    raise RuntimeError("Device out of memory while trying to allocate 12 GiB")


def _fail_and_stay():
    _say(event="failed", at=0.0, reason="gave up but stays")
    _hang_stubbornly()


def _done_then_crash():
    _say(event="done", at=0.0)
    _crash()


def _flood_events():
    with open(sys.argv[2], "a") as file:
        while True:
            file.write(json.dumps({"event": "first_step", "at": 0.0, "seconds": 1.0}) + "\n")


def _killed():
    os.kill(os.getpid(), signal.SIGKILL)


def _raise():
    raise ValueError("expected a good day\nreceived this one")


def _cannot():
    raise Unsupported("not on a Sunday")


def _train():
    pass


def _read_stdin():
    sys.stdin.read()


BEHAVIOURS = {
    "crash": _crash,
    "exit": _exit,
    "hang": _hang,
    "hang stubbornly": _hang_stubbornly,
    "leave a child": _leave_a_child,
    "flood": _flood,
    "half line": _half_line,
    "garbage": _garbage,
    "unknown event": _unknown_event,
    "old protocol": _old_protocol,
    "two last words": _two_last_words,
    "done at once": _done_at_once,
    "impossible sample": _impossible_sample,
    "not a number": _not_a_number,
    "text for bytes": _text_for_bytes,
    "huge number": _huge_number,
    "true for steps": _true_for_steps,
    "terminal commands": _terminal_commands,
    "fifo": _fifo,
    "device": _device,
    "out of memory": _out_of_memory,
    "device out of memory": _device_out_of_memory,
    "killed": _killed,
    "fail and stay": _fail_and_stay,
    "flood events": _flood_events,
    "done then crash": _done_then_crash,
    "raise": _raise,
    "cannot": _cannot,
    "train": _train,
    "read stdin": _read_stdin,
}

UNSUPPORTED = {}
