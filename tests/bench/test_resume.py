"""Nothing finished is lost: kill -9 at any moment costs at most the run in flight, and the next run continues."""

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

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


def test_kill_minus_nine_loses_nothing_repeats_nothing_and_leaves_no_process():
    kills = Path(__file__).parents[2] / "benchmarks" / "kills.py"
    command = [sys.executable, str(kills), "--kills", "8", "--cells", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 lost, 0 repeated or missing, 0 processes left" in done.stdout


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


def _wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(netdyno):
    return sum(result["runs"] for result in netdyno.json("results"))


def _pointer_names(netdyno):
    """Where the pointer to the run in flight would be: its name depends on the store alone."""
    import hashlib

    store = str(netdyno.home / "results.sqlite")
    return [f"in-flight-{hashlib.sha256(store.encode()).hexdigest()[:12]}"]
