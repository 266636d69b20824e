"""`netdyno datasets` as a user runs it: listing, getting, converting, being stopped and killed, and being wrong."""

import ctypes
import json
import os
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest
from tests.conftest import hear_ctrl_c
from tests.data.samples import encoded_items, write

from netdyno.data.formats import image_folder, registry
from netdyno.data.partial import LOG


def _convert_in_background(netdyno, *arguments):
    return subprocess.Popen(
        netdyno.command("datasets", "convert", *arguments),
        env=netdyno.environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_begin_on_two_cores,
    )


def _begin_on_two_cores():
    """So that it takes its time on any machine."""
    hear_ctrl_c()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def _family(pid):
    return psutil.Process(pid).children(recursive=True)


def _wait_until(true, limit_s=60.0):
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _all_gone(processes, limit_s=15.0):
    _, alive = psutil.wait_procs(processes, timeout=limit_s)
    return alive == []


def test_the_list_says_what_there_is_and_how_it_would_come_here(netdyno):
    done = netdyno("datasets")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "60,000" in lines["mnist"]
    assert "not here" in lines["mnist"]
    assert "--from FOLDER" in lines["imagenet"]
    assert "drawn when needed" in lines["shapes"]
    assert not netdyno.home.exists()


def test_json_has_its_fields(netdyno):
    netdyno("datasets", "get", "shapes", "--count", "50")
    rows = {row["name"]: row for row in netdyno.json("datasets")}
    assert list(rows["mnist"]) == ["name", "splits", "shape", "classes", "drawn", "published", "here"]
    assert rows["mnist"]["here"] == []
    (here,) = rows["shapes"]["here"]
    assert list(here) == ["format", "folder", "splits", "bytes"]
    assert (here["format"], here["splits"]) == ("packed", ["train", "test"])
    assert here["bytes"] > 2 * 50 * 28 * 28


def test_shapes_are_drawn_into_a_format_and_a_second_time_are_there(netdyno):
    done = netdyno("datasets", "get", "shapes-cifar10", "--to", "idx", "--count", "100")
    assert done.returncode == 0, done.stderr
    assert "train: 100 images" in done.stdout
    folder = netdyno.home / "datasets" / "shapes-cifar10" / "idx"
    source = registry.open_split(folder, "test")
    assert (source.about.count, source.about.shape) == (100, (32, 32, 3))
    assert "has it already" in netdyno("datasets", "get", "shapes-cifar10", "--to", "idx", "--count", "100").stdout


def test_a_folder_is_converted_beside_itself_at_a_size(netdyno, tmp_path):
    write(image_folder, tmp_path / "photos", encoded_items(70))
    done = netdyno("datasets", "convert", str(tmp_path / "photos"), "--to", "packed", "--size", "8")
    assert done.returncode == 0, done.stderr
    assert "train: 70 images, each cut to 8×8 in" in done.stdout
    assert registry.open_split(tmp_path / "photos-packed", "train").about.shape == (8, 8, 3)


def test_only_the_split_that_was_asked_for_is_converted(netdyno, tmp_path):
    out = tmp_path / "out"
    arguments = ("convert", "shapes", "--to", "packed", "--out", str(out), "--split", "test", "--count", "10")
    assert netdyno("datasets", *arguments).returncode == 0
    assert registry.format_in(out).find(out) == ["test"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["get", "minst"], ["no dataset named 'minst'", "Did you mean 'mnist'?"]),
        (["get", "imagenet"], ["may not be redistributed", "--from FOLDER"]),
        (["get", "mnist", "--from", "/no/such/folder"], ["--from", "/no/such/folder"]),
        (["get", "shapes", "--to", "pakced"], ["no format to write named 'pakced'", "Did you mean 'packed'?"]),
        (["get", "shapes", "--from", "."], ["drawn", "expected no --from"]),
        (["get", "shapes", "--count", "0"], ["--count", "0"]),
        (["convert", "/no/such/folder", "--to", "packed"], ["no folder or dataset named '/no/such/folder'"]),
        (["convert", "mnist", "--to", "packed"], ["mnist has no train split here", "netdyno datasets get mnist"]),
        (["convert", "shapes", "--to", "tar", "--size", "8"], ["--size", "received 'tar'"]),
        (["convert", "shapes", "--to", "packed", "--split", "valid"], ["no split named 'valid'"]),
        (["convert", "shapes"], ["--to"]),
    ],
)
def test_a_mistake_gets_one_clear_line(netdyno, arguments, words):
    done = netdyno("datasets", *arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_an_image_that_is_cut_off_is_named_and_nothing_is_shown(netdyno, tmp_path):
    write(image_folder, tmp_path / "photos", encoded_items(9))
    (damaged, *_) = sorted((tmp_path / "photos").rglob("*.JPEG"))
    damaged.write_bytes(damaged.read_bytes()[:-20])
    done = netdyno("datasets", "convert", str(tmp_path / "photos"), "--to", "packed", "--size", "8")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert damaged.name in done.stderr
    assert registry.formats()["packed"].find(tmp_path / "photos-packed") == []


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_conversion_that_is_stopped_leaves_no_process_and_continues(netdyno, tmp_path, sign, code):
    out = tmp_path / "out"
    arguments = ("shapes", "--to", "tar", "--out", str(out), "--split", "train", "--count", "20000")
    running = _convert_in_background(netdyno, *arguments)
    # Its first line says what is written; a second one counts a write.
    _wait_until(lambda: any(len(path.read_text().splitlines()) > 1 for path in out.rglob(LOG)))
    family = _family(running.pid)
    assert len(family) >= 3
    if sign == signal.SIGINT:
        os.killpg(running.pid, sign)
    else:
        running.kill()
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == code
    assert "Traceback" not in stderr
    assert _all_gone(family)
    assert registry.formats()["tar"].find(out) == []
    done = netdyno("datasets", "convert", *arguments)
    assert done.returncode == 0, done.stderr
    assert "continued behind" in done.stdout
    _same_as_drawn(out)


def _same_as_drawn(out):
    from netdyno.data.catalog import find_dataset
    from netdyno.data.codecs.images import pixels_of
    from netdyno.data.drawn import Shapes

    drawn = Shapes(about=find_dataset("shapes").about("train"), split="train")
    found = registry.open_split(out, "train")
    assert found.about.count == 20_000
    for index in range(0, 20_000, 37):
        expected = drawn.item(3 * index)
        assert found.item(index).label == expected.label
        assert np.array_equal(pixels_of(found.item(index), 1), expected.pixels)


def test_a_dataset_from_a_folder_is_listed_where_it_lies(netdyno, tmp_path):
    write(image_folder, tmp_path / "mine", encoded_items(30))
    done = netdyno("datasets", "get", "imagenet", "--from", str(tmp_path / "mine"))
    assert done.returncode == 0, done.stderr
    assert f"linked to {tmp_path / 'mine'}" in done.stdout
    rows = json.loads(netdyno("datasets", "--json").stdout)
    (here,) = next(row for row in rows if row["name"] == "imagenet")["here"]
    assert (here["format"], here["splits"], here["bytes"]) == ("folder", ["train"], None)


def _photos(folder, seed):
    for split in ("train", "val"):
        for label, name in enumerate(("cat", "dog")):
            (folder / split / name).mkdir(parents=True)
            for item in encoded_items(4 + seed)[seed:]:
                (folder / split / name / f"{label}-{item.name}").write_bytes(item.encoded)


def test_a_copy_from_another_folder_is_not_taken_for_the_one_that_was_packed(netdyno, tmp_path):
    for seed, name in enumerate("ab"):
        _photos(tmp_path / name, seed)
    get = ("datasets", "get", "imagenet", "--to", "packed", "--size", "8", "--from")
    assert netdyno(*get, str(tmp_path / "a")).returncode == 0
    assert "has it already" in netdyno(*get, str(tmp_path / "a")).stdout
    done = netdyno(*get, str(tmp_path / "b"))
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert f"made from {tmp_path / 'b'}" in line
    assert f"received {tmp_path / 'a'}" in line
    done = netdyno(
        "train", "--network", "alexnet/imagenet", "--framework", "reference", "--steps", "1", "--seeds", "1"
    )
    assert done.returncode == 2
    assert f"received {tmp_path / 'a'}" in done.stderr


def test_the_hint_for_images_of_different_sizes_can_be_followed(netdyno, tmp_path):
    write(image_folder, tmp_path / "photos", encoded_items(70))
    command = ("datasets", "convert", str(tmp_path / "photos"), "--to", "packed")
    done = netdyno(*command)
    assert done.returncode == 2
    assert "--size N" in done.stderr
    done = netdyno(*command, "--size", "8")
    assert done.returncode == 0, done.stderr
    assert "train: 70 images" in done.stdout


def test_images_that_are_left_out_are_counted_on_stderr(netdyno, tmp_path):
    _photos(tmp_path / "a", 0)
    (tmp_path / "a" / "train" / "cat" / "x.tiff").write_bytes(b"II*")
    for command in (
        ("get", "imagenet", "--from", str(tmp_path / "a")),
        ("convert", str(tmp_path / "a"), "--to", "tar"),
    ):
        done = netdyno("datasets", *command)
        assert done.returncode == 0
        assert "train: left out 1 images of a kind that is not read (.tiff)" in done.stderr


def test_an_image_that_cannot_be_decoded_is_named_with_its_folder(netdyno, tmp_path):
    write(image_folder, tmp_path / "photos", encoded_items(9, "PNG"))
    (damaged, *_) = sorted((tmp_path / "photos").rglob("*.png"))
    data = damaged.read_bytes()
    damaged.write_bytes(data[:50] + bytes(8) + data[58:])
    done = netdyno("datasets", "convert", str(tmp_path / "photos"), "--to", "packed", "--size", "8")
    assert done.returncode == 2
    assert f"{damaged}: cannot be decoded" in done.stderr


def _obey_modes():
    """In a child, before it starts: root may enter every folder unless it gives up two capabilities."""
    prctl, drop_from_bounding_set = ctypes.CDLL(None).prctl, 24
    for capability in (1, 2):  # to override modes, and to read and search all the same
        prctl(drop_from_bounding_set, capability, 0, 0, 0)


@pytest.mark.parametrize("closed", ["photos", "photos/train", "photos/train/ant"])
def test_a_folder_that_one_may_not_enter_is_one_line(netdyno, tmp_path, closed):
    write(image_folder, tmp_path / "photos", encoded_items(3))
    (tmp_path / closed).chmod(0)
    photos = str(tmp_path / "photos")
    commands = [
        ("datasets", "get", "imagenet", "--from", photos),
        ("datasets", "get", "mnist", "--from", photos),
        ("datasets", "convert", photos, "--to", "packed", "--size", "8", "--out", "/tmp/never"),
        ("datasets", "convert", "shapes", "--to", "packed", "--count", "3", "--out", str(tmp_path / closed / "out")),
    ]
    try:
        for command in commands:
            done = netdyno(*command, preexec_fn=_obey_modes)
            assert done.returncode == 2, (command, done.stdout)
            assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    finally:
        (tmp_path / closed).chmod(0o755)


def test_a_link_to_a_folder_that_one_may_not_enter_is_one_line(netdyno, tmp_path):
    (tmp_path / "closed" / "inside").mkdir(parents=True)
    for name in ("folder", "packed"):
        link = netdyno.home / "datasets" / "mnist" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(tmp_path / "closed" / "inside")
    (tmp_path / "closed").chmod(0)
    train = ("train", "--framework", "reference", "--steps", "1", "--seeds", "1")
    try:
        for command in (("datasets",), ("datasets", "convert", "mnist", "--to", "tar"), train):
            done = netdyno(*command, preexec_fn=_obey_modes)
            assert done.returncode == 2, (command, done.stdout)
            (line,) = done.stderr.strip().splitlines()
            assert "Permission denied" in line
    finally:
        (tmp_path / "closed").chmod(0o755)
