"""Archives with an image and a label for each item."""

import io
import os
import tarfile
import time

import pytest
from tests.data.samples import contents, encoded_items, most_memory, read, write

from netdyno.data.formats import tar_shards
from netdyno.errors import NetdynoError

SHARD = "train-00000.tar"
IMAGE = encoded_items(1)[0].encoded


def _archive(root, *members, **more):
    """With Python's own library; a member is a name and its content, or whatever it takes for one."""
    with tarfile.open(root / SHARD, "w", **more) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                name, content = member
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


def _odd(name, kind):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = "/etc/passwd"
    return info


def test_an_archive_is_one_for_pythons_library_too(tmp_path):
    items = encoded_items(3)
    write(tar_shards.FORMAT, tmp_path, items)
    with tarfile.open(tmp_path / SHARD) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive}
    assert list(found)[:2] == ["00000000_image-0.JPEG", "00000000_image-0.cls"]
    assert list(found.values()) == [part for item in items for part in (item.encoded, str(item.label).encode())]


def test_a_shard_holds_a_thousand_items(tmp_path):
    items = encoded_items(3, "PNG") * 700
    write(tar_shards.FORMAT, tmp_path, items, batch=640)
    assert [path.name for path in sorted(tmp_path.glob("*.tar"))] == [f"train-{n:05d}.tar" for n in range(3)]
    assert contents(read(tar_shards.FORMAT, tmp_path)) == contents(items)


def test_a_shard_that_would_grow_too_large_is_not_added_to(tmp_path, monkeypatch):
    monkeypatch.setattr(tar_shards, "LARGEST_SHARD_BYTES", 5000)
    items = encoded_items(12)
    write(tar_shards.FORMAT, tmp_path, items, batch=5)
    sizes = [path.stat().st_size for path in sorted(tmp_path.glob("*.tar"))]
    assert len(sizes) > 2
    assert max(sizes) <= 5000 + 1024
    assert contents(read(tar_shards.FORMAT, tmp_path)) == contents(items)


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_archives_of_others_are_read(kind, tmp_path):
    long = ("x" * 60 + "/") * 3 + "long" if kind != tarfile.USTAR_FORMAT else "folder/" * 20 + "long"
    members = [("./a/1.jpg", IMAGE), ("./a/1.json", b"{}"), ("./a/1.cls", b"7\n"), (f"{long}.PNG.jpeg", IMAGE)]
    _archive(tmp_path, _odd("a", tarfile.DIRTYPE), *members, (f"{long}.cls", b"0"), format=kind)
    assert [(item.name, item.label, item.encoded) for item in read(tar_shards.FORMAT, tmp_path)] == [
        ("1.jpg", 7, IMAGE),
        ("long.PNG.jpeg", 0, IMAGE),
    ]


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (("../1.jpg", IMAGE), r"expected a name inside the archive, received '\.\./1\.jpg'"),
        (("a/../../1.jpg", IMAGE), "expected a name inside the archive"),
        (("/1.jpg", IMAGE), "expected a name inside the archive"),
        (_odd("1.jpg", tarfile.SYMTYPE), "received '1.jpg', a link or device"),
        (_odd("1.jpg", tarfile.LNKTYPE), "a link or device"),
        (_odd("1.jpg", tarfile.CHRTYPE), "a link or device"),
        (_odd("1.jpg", tarfile.BLKTYPE), "a link or device"),
        (_odd("1.jpg", tarfile.FIFOTYPE), "a link or device"),
        (_odd("1.jpg", b"S"), "a link or device"),
        (("1.txt", b"hello"), "expected an image and a label for '1', received 1.txt"),
    ],
)
def test_what_has_no_place_in_such_an_archive_is_refused(member, said, tmp_path):
    _archive(tmp_path, ("0.jpg", IMAGE), ("0.cls", b"0"), member, ("1.cls", b"0"))
    with pytest.raises(NetdynoError, match=rf"train-00000.tar, byte \d+: .*{said}"):
        tar_shards.FORMAT.open(tmp_path, "train")


@pytest.mark.parametrize("size", [10**6, 2**33 - 1, 2**70])
def test_a_size_that_lies_is_refused(size, tmp_path):
    info = tarfile.TarInfo("1.jpg")
    info.size = size
    (tmp_path / SHARD).write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with pytest.raises(NetdynoError, match=f"expected {size} bytes of '1.jpg', received 2048"):
        tar_shards.FORMAT.open(tmp_path, "train")


def test_an_enormous_name_is_not_read(tmp_path):
    info = tarfile.TarInfo("1.jpg")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10**9
    (tmp_path / SHARD).write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with pytest.raises(NetdynoError, match="expected the header of a file, received one of 1000000000 bytes"):
        tar_shards.FORMAT.open(tmp_path, "train")


def test_a_size_hidden_in_an_extended_header_is_refused(tmp_path):
    info = tarfile.TarInfo("1.jpg")
    info.pax_headers = {"size": "12"}
    _archive(tmp_path, info, format=tarfile.PAX_FORMAT)
    with pytest.raises(NetdynoError, match="in a form that is not read"):
        tar_shards.FORMAT.open(tmp_path, "train")


@pytest.mark.parametrize("label", [b"", b"cat", b"-1", b"1.0", b"9" * 30])
def test_a_label_that_is_no_number_is_refused(label, tmp_path):
    _archive(tmp_path, ("0.jpg", IMAGE), ("0.cls", label))
    with pytest.raises(NetdynoError, match="expected the digits of a label"):
        read(tar_shards.FORMAT, tmp_path)


@pytest.mark.parametrize(
    "names", [["0.jpg"], ["0.cls"], ["0.jpg", "1.cls"], ["0.jpg", "0.png", "0.cls"], ["0.jpg", "0.cls", "0.x.cls"]]
)
def test_an_item_has_one_image_and_one_label(names, tmp_path):
    _archive(tmp_path, *((name, b"0") for name in names))
    with pytest.raises(NetdynoError, match="expected an image and a label for '0'"):
        tar_shards.FORMAT.open(tmp_path, "train")


def test_a_header_that_was_changed_is_noticed(tmp_path):
    items = encoded_items(1)
    write(tar_shards.FORMAT, tmp_path, items)
    path = tmp_path / SHARD
    data = bytearray(path.read_bytes())
    for at in set(range(512)) - {155}:
        data[at] ^= 0x11
        path.write_bytes(data)
        with pytest.raises(NetdynoError, match=r"train-00000\.tar, byte 0: expected"):
            read(tar_shards.FORMAT, tmp_path)
        data[at] ^= 0x11
    data[155] ^= 0x11  # follows the end of the checksum's digits, and means nothing
    path.write_bytes(data)
    assert contents(read(tar_shards.FORMAT, tmp_path)) == contents(items)


def test_an_archive_without_its_end_mark_is_refused(tmp_path):
    write(tar_shards.FORMAT, tmp_path, encoded_items(2))
    path = tmp_path / SHARD
    path.write_bytes(path.read_bytes()[:-1024])
    with pytest.raises(NetdynoError, match="expected 512 bytes, received 0 to the file's end"):
        tar_shards.FORMAT.open(tmp_path, "train")


def test_data_behind_the_end_mark_is_refused(tmp_path):
    write(tar_shards.FORMAT, tmp_path, encoded_items(2))
    path = tmp_path / SHARD
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(NetdynoError, match="expected nothing after the archive's end mark"):
        tar_shards.FORMAT.open(tmp_path, "train")


def test_gigabytes_behind_the_end_mark_are_not_read(tmp_path):
    write(tar_shards.FORMAT, tmp_path, encoded_items(2))
    os.truncate(tmp_path / SHARD, 64 * 2**30)
    start = time.monotonic()
    with most_memory(2**25), pytest.raises(NetdynoError, match="expected nothing after the archive's end mark"):
        tar_shards.FORMAT.open(tmp_path, "train")
    assert time.monotonic() - start < 5


def test_a_missing_shard_is_named(tmp_path):
    write(tar_shards.FORMAT, tmp_path, encoded_items(1, "PNG") * 2001, batch=999)
    (tmp_path / "train-00001.tar").unlink()
    with pytest.raises(NetdynoError, match=r"expected train-00001\.tar before train-00002\.tar"):
        tar_shards.FORMAT.open(tmp_path, "train")
