"""A worker that crashes, hangs, floods, lies or is killed: its run gets an outcome, and the matrix goes on."""

import time
from pathlib import Path

import psutil
import pytest

QUICK = ("--runs", "1", "--seconds", "0.2")
CELL = ("--framework", "scripted", "--network", "lenet", "--batch", "7")


@pytest.mark.parametrize(
    ("behaviour", "outcome", "reason"),
    [
        ("crash", "crashed", "SIGSEGV"),
        ("exit", "crashed", "exit code 3 without a last word: the library said goodbye"),
        ("half line", "crashed", "exit code 1"),
        ("garbage", "failed", "line 2 of its events is not an event"),
        ("unknown event", "failed", "line 2 of its events, field 'event': invalid value 'applause'"),
        ("old protocol", "failed", "protocol 0, not 2"),
        ("two last words", "failed", "it said 2 last words"),
        ("done at once", "failed", "done without measuring"),
        ("impossible sample", "failed", "line 2 of its events, field 'seconds': expected `float` >= 1e-09"),
        ("not a number", "failed", "line 2 of its events is not an event"),
        ("text for bytes", "failed", "field 'host_peak_bytes': expected `int | null`"),
        ("huge number", "failed", "field 'host_peak_bytes'"),
        ("true for steps", "failed", "field 'steps': expected `int`, got `bool`"),
        ("terminal commands", "failed", "field 'versions[...]': expected `str` matching regex"),
        ("fifo", "failed", "expected a regular file"),
        ("device", "failed", "events cannot be read"),
        ("flood events", "failed", "it wrote over 64 MiB of events"),
        ("out of memory", "out of memory", "wanted 12 GiB"),
        ("device out of memory", "out of memory", "Device out of memory"),
        ("killed", "crashed", "SIGKILL"),
        ("raise", "failed", "ValueError: expected a good day (more in runs/"),
        ("cannot", "unsupported", "not on a Sunday"),
    ],
)
def test_every_misbehaviour_has_its_outcome_and_reason(netdyno, behaviour, outcome, reason):
    netdyno.script(b7=behaviour)
    done = netdyno("run", *CELL, *QUICK, "--deadline", "5")
    assert "Traceback" not in done.stderr
    (result,) = netdyno.json("results")
    assert (result["outcome"], result["figures"]) == (outcome, {})
    assert reason in done.stderr.replace("\n", " ")
    assert done.returncode == (0 if outcome in ("unsupported", "out of memory") else 1)


def test_a_hanging_worker_is_killed_at_its_deadline_even_if_it_ignores_polite_signals(netdyno):
    netdyno.script(b7="hang stubbornly")
    start = time.monotonic()
    done = netdyno("run", *CELL, *QUICK, "--deadline", "3")
    assert time.monotonic() - start < 30
    assert netdyno.json("results")[0]["outcome"] == "timed out"
    assert done.returncode == 1


def test_children_that_a_worker_leaves_behind_are_killed_with_it(netdyno):
    netdyno.script(b7="leave a child")
    netdyno("run", *CELL, *QUICK)
    assert [process for process in psutil.process_iter() if _is_worker_of(process, netdyno.home)] == []
    assert netdyno.json("results")[0]["outcome"] == "measured"


def test_a_flood_on_stdout_fills_no_disk_and_is_measured_all_the_same(netdyno):
    netdyno.script(b7="flood")
    netdyno("run", *CELL, *QUICK)
    (log,) = (netdyno.home / "runs").glob("*/rank0/stdout.log")
    assert 100_000 < log.stat().st_size < 3_000_000
    assert "bytes left out" in log.read_text(errors="replace")
    assert netdyno.json("results")[0]["outcome"] == "measured"


def test_a_worker_that_reads_stdin_gets_nothing_and_goes_on(netdyno):
    netdyno.script(b7="read stdin")
    netdyno("run", *CELL, *QUICK)
    assert netdyno.json("results")[0]["outcome"] == "measured"


def test_a_bad_cell_does_not_stop_the_others(netdyno, tmp_path):
    netdyno.script(b1="crash", b2="raise", b3="half line")
    suite = tmp_path / "mixed.toml"
    suite.write_text(
        'seconds = 0.2\nruns = 2\n[matrix]\nframework = "scripted"\nnetwork = "lenet"\nbatch = [1, 2, 3, 4, 5]\n'
    )
    done = netdyno("run", str(suite))
    outcomes = {result["batch"]: result["outcome"] for result in netdyno.json("results")}
    assert outcomes == {1: "crashed", 2: "failed", 3: "crashed", 4: "measured", 5: "measured"}
    assert done.returncode == 1


def test_retry_makes_only_the_failed_cells_once_more(netdyno, tmp_path):
    suite = tmp_path / "two.toml"
    suite.write_text('seconds = 0.2\nruns = 1\n[matrix]\nframework = "scripted"\nnetwork = "lenet"\nbatch = [1, 2]\n')
    netdyno.script(b1="crash")
    netdyno("run", str(suite))
    netdyno.script()
    again = netdyno("run", str(suite))
    assert "0 runs to make" in again.stderr
    retried = netdyno("run", str(suite), "--retry")
    assert "1 runs to make" in retried.stderr
    assert {result["outcome"] for result in netdyno.json("results")} == {"measured"}


def _is_worker_of(process: psutil.Process, home: Path) -> bool:
    try:
        return any(word.startswith(str(home / "workers")) for word in process.cmdline())
    except psutil.Error:
        return False
