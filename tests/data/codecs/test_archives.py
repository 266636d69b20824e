"""An archive a stranger made can waste a moment, never a disk, and writes nothing outside of its folder."""

import errno
import gzip
import hashlib
import io
import os
import tarfile
from dataclasses import replace

import pytest

from netdyno.data.catalog import Content
from netdyno.data.codecs import archives
from netdyno.data.codecs.archives import copy_file, md5_of, unpack_gzip, unpack_tar
from netdyno.errors import NetdynoError

BODY = b"what is wanted" * 100
DIGEST = hashlib.md5(BODY).hexdigest()
WANTED = Content(name="wanted", bytes=len(BODY))


def _tar(path, *members):
    """Members are (name, bytes) or a ready TarInfo."""
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            tar.addfile(info, io.BytesIO(member[1]))
    return path


def _special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def _files(folder):
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_only_what_was_asked_for_is_unpacked(tmp_path):
    archive = _tar(tmp_path / "a.tar.gz", ("package/data/wanted", BODY), ("package/install.sh", b"rm -rf"))
    into = tmp_path / "into"
    into.mkdir()
    unpack_tar(archive, [WANTED], into)
    assert _files(into) == {"wanted"}
    assert (into / "wanted").read_bytes() == BODY


def test_a_plain_tar_is_read_too(tmp_path):
    packed = _tar(tmp_path / "a.tar.gz", ("wanted", BODY))
    plain = tmp_path / "a.tar"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    unpack_tar(plain, [WANTED], tmp_path)
    assert (tmp_path / "wanted").read_bytes() == BODY


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (("../wanted", BODY), "paths inside the archive, received '../wanted'"),
        (("a/../../wanted", BODY), "paths inside the archive"),
        (("/etc/wanted", BODY), "paths inside the archive, received '/etc/wanted'"),
        (_special("wanted", tarfile.SYMTYPE, "/etc/passwd"), "the link 'wanted'"),
        (_special("wanted", tarfile.LNKTYPE, "../../secret"), "the link 'wanted'"),
        (_special("wanted", tarfile.CHRTYPE), "the device 'wanted'"),
        (_special("wanted", tarfile.FIFOTYPE), "the device 'wanted'"),
        (("wanted", BODY + b"!"), "expected 1,400 bytes, received 1,401"),
        (("other", BODY), "expected a file 'wanted' in it"),
    ],
)
def test_a_dangerous_or_wrong_member_is_refused_by_name(tmp_path, member, words):
    archive = _tar(tmp_path / "a.tar.gz", member)
    into = tmp_path / "deep" / "into"
    into.mkdir(parents=True)
    with pytest.raises(NetdynoError, match=words):
        unpack_tar(archive, [WANTED], into)
    assert _files(tmp_path) == {"a.tar.gz"}


def test_a_bomb_ahead_of_the_file_is_refused_before_it_is_unpacked(tmp_path):
    archive = _tar(tmp_path / "a.tar.gz", ("bomb", bytes(50_000_000)), ("wanted", BODY))
    assert archive.stat().st_size < 100_000
    with pytest.raises(NetdynoError, match="at most"):
        unpack_tar(archive, [WANTED], tmp_path)
    assert not (tmp_path / "wanted").exists()


def test_a_name_of_fifty_megabytes_is_refused(tmp_path):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 50_000_000
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + b"n" * 50_000_000))
    with pytest.raises(NetdynoError, match="at most"):
        unpack_tar(archive, [WANTED], tmp_path)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_an_archive_that_is_cut_off_is_told_as_such(tmp_path, part):
    whole = _tar(tmp_path / "a.tar.gz", ("wanted", os.urandom(100_000))).read_bytes()
    archive = tmp_path / "cut.tar.gz"
    archive.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(NetdynoError, match=r"cut\.tar\.gz"):
        unpack_tar(archive, [Content(name="wanted", bytes=100_000)], tmp_path)


def test_what_is_no_archive_is_told_as_such(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(b"<html>not found</html>" * 100)
    with pytest.raises(NetdynoError, match=r"a\.tar\.gz: expected a complete archive"):
        unpack_tar(tmp_path / "a.tar.gz", [Content(name="wanted", bytes=5)], tmp_path)


def test_a_gzip_is_unpacked_with_its_digest(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(BODY))
    unpack_gzip(tmp_path / "a.gz", replace(WANTED, md5=DIGEST), tmp_path)
    assert (tmp_path / "wanted").read_bytes() == BODY


@pytest.mark.parametrize("size_bytes", [len(BODY) - 1, len(BODY) + 1])
def test_a_gzip_of_another_size_is_refused(tmp_path, size_bytes):
    (tmp_path / "a.gz").write_bytes(gzip.compress(BODY))
    with pytest.raises(NetdynoError, match=r"a\.gz"):
        unpack_gzip(tmp_path / "a.gz", Content(name="a", bytes=size_bytes), tmp_path)
    assert not (tmp_path / "a").exists()


def test_a_damaged_gzip_is_refused(tmp_path):
    data = bytearray(gzip.compress(os.urandom(5000)))
    data[-6] ^= 1  # in the checksum
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(NetdynoError, match="cut off or damaged"):
        unpack_gzip(tmp_path / "a.gz", Content(name="a", bytes=5000), tmp_path)


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.gz").write_bytes(gzip.compress(BODY))
    monkeypatch.setattr(archives.os, "fsync", full)
    with pytest.raises(NetdynoError, match="No space left on device"):
        unpack_gzip(tmp_path / "a.gz", WANTED, tmp_path)


def test_a_copy_has_the_digest_of_what_was_copied(tmp_path):
    (tmp_path / "a").write_bytes(BODY)
    copy_file(tmp_path / "a", replace(WANTED, md5=DIGEST), tmp_path)
    assert md5_of(tmp_path / "wanted") == md5_of(tmp_path / "a") == DIGEST


@pytest.mark.parametrize("copy", [copy_file, unpack_gzip])
def test_a_file_with_another_digest_does_not_get_its_name(tmp_path, copy):
    (tmp_path / "a").write_bytes(BODY if copy is copy_file else gzip.compress(BODY))
    with pytest.raises(NetdynoError, match=f"with the MD5 {'0' * 32}, received 1,400 with {DIGEST}"):
        copy(tmp_path / "a", replace(WANTED, md5="0" * 32), tmp_path)
    assert _files(tmp_path) == {"a"}
