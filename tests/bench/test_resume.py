"""Nothing finished is lost: kill -9 at any moment costs at most the run in flight, and the next run continues."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.conftest import hear_ctrl_c

SUITE = 'runs = 3\nseconds = 0.1\n[matrix]\nframework = "null"\nnetwork = "lenet"\nbatch = [1, 2, 3, 4]\n'


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "matrix.toml"
    path.write_text(SUITE)
    return str(path)


def test_a_finished_suite_is_not_measured_twice_unless_again_is_said(netdyno, suite):
    netdyno("run", suite)
    assert "0 runs to make (12 finished earlier" in netdyno("run", suite).stderr
    assert "12 runs to make" in netdyno("run", suite, "--again").stderr
    assert {result["runs"] for result in netdyno.json("results")} == {3}
    assert len(netdyno.json("results", "--every-series")) == 8


def test_signals_lose_nothing_repeat_nothing_and_leave_no_process():
    root = Path(__file__).parents[2]
    command = [sys.executable, str(root / "benchmarks" / "kills.py"), "--kills", "8", "--only", "run", "--cells", "4"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 lost, 0 processes left, right\n")


def test_a_run_that_ended_before_it_was_written_down_is_recovered(netdyno, suite):
    netdyno("run", suite)
    (newest,) = sorted((netdyno.home / "runs").iterdir())[-1:]
    with sqlite3.connect(netdyno.home / "results.sqlite") as database:
        database.execute("delete from runs where id = ?", (newest.name,))
    for pointer in [netdyno.home / name for name in _pointer_names(netdyno)]:
        pointer.write_text(newest.name)
    done = netdyno("run", suite)
    assert "Recovered a finished run" in done.stderr
    assert "0 runs to make" in done.stderr
    assert _runs(netdyno) == 12


def test_a_changed_network_is_measured_anew(netdyno, tmp_path):
    network = tmp_path / "mine.py"
    network.write_text("def small(net, images):\n    return net.classifier(net.flatten(images))\n")
    cell = ("run", "--framework", "null", "--network", f"{network}:small", "--runs", "1", "--seconds", "0.1")
    netdyno(*cell)
    assert "0 runs to make" in netdyno(*cell).stderr
    network.write_text("def small(net, images):\n    return net.classifier(net.tanh(net.flatten(images)))\n")
    assert "1 runs to make" in netdyno(*cell).stderr


def test_two_measurements_at_once_are_refused_whatever_their_home(netdyno, suite, tmp_path):
    netdyno.script(b7=0.01)
    slow = ("run", "--framework", "scripted", "--network", "lenet", "--batch", "7", "--seconds", "5")
    process = subprocess.Popen(netdyno.command(*slow), env=netdyno.environment, stderr=subprocess.DEVNULL)
    _wait_until(lambda: any((netdyno.home / "runs").glob("*/rank0/events.jsonl")))
    netdyno.environment["NETDYNO_HOME"] = str(tmp_path / "another home")
    refused = netdyno("run", suite)
    process.kill()
    process.wait()
    assert refused.returncode == 2
    assert f"another measurement in process {process.pid}" in refused.stderr


def test_ctrl_c_ends_the_worker_and_keeps_what_was_finished(netdyno, suite):
    process = subprocess.Popen(
        netdyno.command("run", suite),
        env=netdyno.environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )
    _wait_until(lambda: len(list((netdyno.home / "runs").glob("*/rank0/events.jsonl"))) >= 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command continues" in said
    assert "Traceback" not in said
    assert netdyno("run", suite).returncode == 0
    assert _runs(netdyno) == 12


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_term_and_hangup_end_a_run_as_ctrl_c_does(netdyno, number):
    netdyno.script(b7=0.01)
    cell = ("run", "--framework", "scripted", "--network", "lenet", "--batch", "7", "--seconds", "60")
    process = subprocess.Popen(netdyno.command(*cell), env=netdyno.environment, stderr=subprocess.PIPE, text=True)
    _wait_until(lambda: any((netdyno.home / "runs").glob("*/rank0/events.jsonl")))
    workers = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command continues" in said
    assert workers
    _wait_until(lambda: not any(psutil.pid_exists(pid) for pid in workers))  # the monitor ends by itself


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_ctrl_c_during_start_up_is_one_line(netdyno, delay_s):
    process = subprocess.Popen(
        netdyno.command("results"), env=netdyno.environment, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c
    )
    _wait_until(lambda: process.poll() is not None or _hears(process.pid, signal.SIGTERM))
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1


def _hears(pid, number):
    """Whether the process has a handler of its own: Python brings none for SIGTERM."""
    caught = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def test_netdyno_killed_just_after_a_worker_started_leaves_no_process(netdyno):
    netdyno.script(b7=0.01)
    cell = ("run", "--framework", "scripted", "--network", "lenet", "--batch", "7", "--seconds", "60")
    for place in range(8):
        process = subprocess.Popen(netdyno.command(*cell), env=netdyno.environment, stderr=subprocess.DEVNULL)
        started = _wait_until(lambda host=process: _children(host))
        time.sleep(0.025 * place)
        started += _children(process)
        process.kill()
        process.wait()
        _wait_until(lambda pids=started: not any(map(_is_running, pids)))


def _children(process):
    try:
        return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    except psutil.Error:
        return []


def _is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _wait_until(holds):
    deadline = time.monotonic() + 60
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def _runs(netdyno):
    return sum(result["runs"] for result in netdyno.json("results"))


def _pointer_names(netdyno):
    """Where the pointer to the run in flight would be: its name depends on the store alone."""
    import hashlib

    store = str(netdyno.home / "results.sqlite")
    return [f"in-flight-{hashlib.sha256(store.encode()).hexdigest()[:12]}"]
