"""A user's mistake gets one clear line: what was expected, what was received, a hint; exit 2; nothing changed."""

import contextlib
import json
import sqlite3
import subprocess
from pathlib import Path

import pytest


def _refused(done, *words):
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--network", "resnet5O"], ["no network named 'resnet5O'", "Did you mean 'resnet50'?"]),
        (["--network", "lenet", "--dataset", "minst"], ["no dataset named 'minst'", "mnist"]),
        (["--network", "lenet", "--dataset", "imagenet"], ["lenet", "mnist", "received 'imagenet'"]),
        (["--network", "lenet", "--framework", "nul"], ["no framework named 'nul'", "Did you mean 'null'?"]),
        (["--network", "lenet", "--framework", "null", "--batch", "0"], ["batch", "over 0", "received 0"]),
        (["--network", "lenet", "--framework", "null", "--batch", "many"], ["--batch", "many"]),
        (["--network", "lenet", "--framework", "null", "--precision", "fp32"], ["no precision named 'fp32'"]),
        (["--network", "lenet", "--framework", "null", "--execution", "warp"], ["no execution named 'warp'"]),
        (["--network", "lenet", "--framework", "null", "--threads", "0"], ["threads", "received 0"]),
        (["--network", "lenet", "--framework", "null", "--runs", "0"], ["runs", "over 0"]),
        (["--network", "lenet", "--framework", "null", "--seconds", "-1"], ["seconds", "over 0"]),
        (["--network", "lenet", "--gpus", "3"], ["--gpus", "received 3"]),
        (["--network", "lenet", "--cpu", "--gpus", "1"], ["both"]),
        (["--network", "lenet", "--python", "null=/no/such/python", "--framework", "null"], ["/no/such/python"]),
        (["--network", "lenet", "--python", "nonsense"], ["NAME=PATH", "nonsense"]),
        (["--batch", "8"], ["expected a network"]),
        (["--flavour", "mint"], ["--flavour"]),
        (["nosuite"], ["no suite named 'nosuite'"]),
        (["missing.toml"], ["missing.toml"]),
        (["default", "--network", "lenet"], ["a suite or the flags"]),
    ],
)
def test_wrong_flags_of_run(netdyno, arguments, words):
    _refused(netdyno("run", *arguments), *words)
    assert not (netdyno.home / "results.sqlite").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("this is not toml", ["TOML"]),
        ("", ["at least one cell"]),
        ("[matrix]\n", ["at least one cell"]),
        ('[matrix]\nnetwork = []\nframework = "null"\n', ["matrix.network", "at least one value"]),
        ('[matrix]\nnetwrk = "lenet"\n', ["no field of a cell named 'netwrk'", "Did you mean 'network'?"]),
        ('rums = 3\n[matrix]\nnetwork = "lenet"\n', ["no field of a suite named 'rums'", "runs"]),
        ('runs = "three"\n[matrix]\nnetwork = "lenet"\n', ["runs", "received 'three'"]),
        ('[matrix]\nnetwork = "lenet"\ndataset = "imagenet"\nframework = "null"\n', ["lenet", "imagenet"]),
        ('[matrix]\nnetwork = "lenet"\nframework = "null"\nbatch = "big"\n', ["batch", "received 'big'"]),
        ('[matrix]\nnetwork = "lenet"\nframework = "null"\nbatch = 0\n', ["batch", "received 0"]),
        ("[matrix]\nnetwork = 5\n", ["network", "received 5"]),
        ('include = 3\n[matrix]\nnetwork = "lenet"\n', ["include"]),
        ('[matrix]\nnetwork="lenet"\nframework="null"\n[[exclude]]\nnetwork="lenet"\n', ["at least one cell"]),
    ],
)
def test_wrong_suites(netdyno, tmp_path, text, words):
    suite = tmp_path / "wrong.toml"
    suite.write_text(text)
    _refused(netdyno("run", str(suite)), "wrong.toml", *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("run", "--network", "lenet", "--framework", "null", "--batch", "9223372036854775808"),
            "batch: expected at",
        ),
        (("run", "--network", "lenet", "--framework", "null", "--threads", "99999999999"), "threads: expected at"),
        (("run", "--network", "lenet", "--framework", "null", "--seconds", "nan"), "seconds: expected a number"),
        (("run", "--network", "lenet", "--framework", "null", "--seconds", "inf"), "seconds: expected at most"),
        (("run", "--network", "lenet", "--framework", "null", "--deadline", "1e300"), "deadline_s: expected at most"),
        (("run", "--network", "lenet", "--framework", "null", "--target", "1"), "target: expected at most"),
        (("run", "--network", "lenet", "--framework", "null", "--runs", "99999999999"), "runs: expected at most"),
        (("run", "--network", "lenet", "--framework", "null", "--seed", "4294967296"), "seed: expected"),
        (("train", "--framework", "null", "--price-per-hour", "nan"), "--price-per-hour: expected a number"),
        (("train", "--framework", "null", "--seeds", "99999999999"), "--seeds: expected"),
        (("train", "--framework", "null", "--steps", "99999999999"), "--steps: expected"),
        (("train", "--framework", "null", "--epochs", "inf"), "--epochs: expected"),
        (("train", "--framework", "null", "--evaluate-every", "99999999999"), "--evaluate-every: expected"),
        (("verify", "--framework", "reference", "--batch", "99999999999"), "--batch"),
        (("verify", "--framework", "reference", "--all"), "expected --all or --framework, received both"),
        (("networks", "lenet", "--batch", "99999999999"), "batch: expected at most"),
        (("frameworks", "install", "null", "--jobs", "99999999999"), "--jobs"),
        (("compare", "a=b", "c=d", "--margin", "nan%"), "--margin"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else "",
)
def test_a_number_out_of_bounds_is_one_line(netdyno, arguments, words):
    _refused(netdyno(*arguments), words)


def test_a_suite_that_is_not_text(netdyno, tmp_path):
    suite = tmp_path / "binary.toml"
    suite.write_bytes(bytes(range(256)))
    _refused(netdyno("run", str(suite)), "binary.toml")


def test_a_user_network_that_raises_is_told_with_its_line(netdyno, tmp_path):
    network = tmp_path / "mine.py"
    network.write_text("def broken(net, images):\n    x = net.flatten(images)\n    raise RuntimeError('oh no')\n")
    done = netdyno("run", "--framework", "null", "--network", f"{network}:broken")
    _refused(done, "mine.py", "line 3", "oh no")


def test_a_framework_that_is_not_installed_says_how_to_get_it(netdyno):
    done = netdyno("run", "--network", "lenet")
    _refused(done, "netdyno frameworks install")


def test_a_suite_for_a_gpu_where_there_is_none(netdyno):
    _refused(netdyno("run", "gpu-float32"), "expected a GPU")


def test_a_batch_that_is_neither_a_number_nor_max(netdyno):
    _refused(netdyno("run", "--framework", "null", "--network", "lenet", "--batch", "many"), "'max'")
    _refused(netdyno("run", "--batch", "max"), "--network")
    _refused(netdyno("run", "--framework", "null", "--network", "lenet", "--batch", "max", "--dry-run"), "--dry-run")


def test_results_of_an_empty_store(netdyno):
    _refused(netdyno("results"), "netdyno run")


def test_a_newer_database_is_left_alone(netdyno):
    netdyno("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")
    path = netdyno.home / "results.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("update netdyno_schema set version_num = '9999'")
    _refused(netdyno("results"), "newer")


def test_a_file_that_is_no_database(netdyno, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my shopping list, long enough to be no database header at all " * 20)
    _refused(netdyno("--store", str(path), "run", "--framework", "null", "--network", "lenet"), "notes.txt")
    assert path.read_text().startswith("my shopping list")


def test_a_store_in_a_place_that_cannot_be_written(netdyno):
    _refused(netdyno("--store", "/proc/results.sqlite", "run", "--framework", "null", "--network", "lenet"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here: needs root and CAP_SYS_ADMIN")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_the_database_stays_whole(netdyno, small_disk):
    store = small_disk / "results.sqlite"
    cell = ("--store", str(store), "run", "--framework", "null", "--network", "lenet", "--seconds", "0.1")
    assert netdyno(*cell, "--runs", "1").returncode == 0
    filler = small_disk / "filler"
    _fill(filler)
    done = netdyno(*cell, "--runs", "9")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "full" in done.stderr or "space" in done.stderr
    filler.unlink()
    assert netdyno(*cell, "--runs", "9").returncode == 0
    with sqlite3.connect(store) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        assert database.execute("select count(*) from runs").fetchone() == (9,)


def _fill(path):
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def test_one_wrong_gradient_makes_verify_exit_1_and_name_the_node(netdyno):
    netdyno.environment["NETDYNO_SPECS"] = str(Path(__file__).parents[1] / "parity" / "wrong")
    done = netdyno("verify", "--framework", "wrong", "--network", "lenet", "--json")
    assert done.returncode == 1, done.stderr
    (proof,) = json.loads(done.stdout)
    assert (proof["passed"], proof["worst_node"]) == (False, "conv2")


@pytest.fixture
def measured(netdyno):
    netdyno("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")
    return netdyno


@pytest.mark.parametrize(
    "arguments",
    [("report", "-o", "/dev/full"), ("report", "--format", "csv", "-o", "/dev/full"),
     ("results", "export", "-o", "/dev/full"), ("results", "export", "--format", "json", "-o", "/dev/full")],
    ids=" ".join,
)  # fmt: skip
def test_a_full_device_is_one_line_and_stays_a_device(measured, arguments):
    _refused(measured(*arguments), "'/dev/full' cannot be written: no space left")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize(
    "arguments",
    [("results",), ("results", "--json"), ("results", "export"), ("networks",), ("history", "network=lenet")],
    ids=" ".join,
)  # fmt: skip
def test_output_to_a_full_device_is_one_line(measured, arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            measured.command(*arguments), env=measured.environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "no space left" in done.stderr


def test_a_reader_that_has_enough_is_no_mistake(measured):
    command = " ".join(measured.command("networks", "--json"))
    done = subprocess.run(
        ["bash", "-c", f"{command} | true"], env=measured.environment, capture_output=True, text=True
    )
    assert done.stderr == ""


def test_a_report_on_a_full_disk_leaves_the_old_one(measured, small_disk):
    page = small_disk / "report.html"
    page.write_text("the old page")
    _fill(small_disk / "filler")
    _refused(measured("report", "-o", str(page)), "no space left")
    assert page.read_text() == "the old page"
    assert {found.name for found in small_disk.iterdir()} == {"report.html", "filler"}
