"""A split that is cut at any byte continues behind what is safe and ends as if it had never been cut."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netdyno.data import partial
from netdyno.data.partial import LOG, PartialSplit, Piece
from netdyno.errors import NetdynoError

FACTS = {"count": 6, "classes": ("a", "b")}
CHUNKS = [(b"first", 2), (b"-second", 1), (b"-third one", 3)]
WHOLE = b"first-second-third one"
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _split(path: Path, facts: dict = FACTS) -> PartialSplit:
    return PartialSplit(path.with_name(path.name + ".partial"), facts)


def _append(split: PartialSplit, data: bytes, items: int) -> None:
    split.write([Piece(name="f", data=data)], items)


def _continued(path: Path) -> bytes:
    """The file after all chunks that are not safe yet were written."""
    split = _split(path)
    counts = [sum(items for _, items in CHUNKS[:number]) for number in range(len(CHUNKS) + 1)]
    for data, items in CHUNKS[counts.index(split.done) :]:
        _append(split, data, items)
    split.finish()
    return path.read_bytes()


def _begun(path: Path, chunks: int, sync: bool = False) -> Path:
    split = _split(path)
    for data, items in CHUNKS[:chunks]:
        _append(split, data, items)
    if sync:
        split.sync()
    split.close()
    return path.with_name(path.name + ".partial")


def _reboot(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the power had failed: the page cache is gone, and the system has another boot id."""
    monkeypatch.setattr(partial, "_boot_id", lambda: "another")


def test_a_file_is_seen_only_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "f"
    folder = _begun(path, 2)
    assert not path.exists()
    assert (folder / LOG).exists()
    assert _continued(path) == WHOLE
    assert list(tmp_path.iterdir()) == [path]


def test_continuing_restores_how_far_the_writer_was(tmp_path: Path) -> None:
    _begun(tmp_path / "f", 2)
    split = _split(tmp_path / "f")
    assert (split.done, split.sizes) == (3, {"f": 12})


@FEW
@given(cut=st.integers(0, len(WHOLE)), chunks=st.integers(0, 3), sync=st.booleans())
def test_data_cut_at_any_byte_continue(tmp_path_factory, cut: int, chunks: int, sync: bool) -> None:
    path = tmp_path_factory.mktemp("cut") / "f"
    folder = _begun(path, chunks, sync)
    if (folder / "f").exists():
        os.truncate(folder / "f", min(cut, (folder / "f").stat().st_size))
    assert _continued(path) == WHOLE


@FEW
@given(cut=st.integers(0, 400), chunks=st.integers(0, 3), sync=st.booleans())
def test_a_log_cut_at_any_byte_continues(tmp_path_factory, cut: int, chunks: int, sync: bool) -> None:
    path = tmp_path_factory.mktemp("cut") / "f"
    log = _begun(path, chunks, sync) / LOG
    os.truncate(log, min(cut, log.stat().st_size))
    assert _continued(path) == WHOLE


@FEW
@given(noise=st.binary(min_size=1, max_size=40), chunks=st.integers(0, 3))
def test_a_torn_tail_of_any_bytes_is_dropped(tmp_path_factory, noise: bytes, chunks: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "f"
    folder = _begun(path, chunks)
    for name in ("f", LOG):
        with (folder / name).open("ab") as file:
            file.write(noise)
    assert _continued(path) == WHOLE


def test_bytes_that_never_reached_the_disk_are_not_taken_for_safe(tmp_path: Path, monkeypatch) -> None:
    _begun(tmp_path / "f", 1, sync=True)
    split = _split(tmp_path / "f")
    _append(split, *CHUNKS[1])
    split.close()
    (tmp_path / "f.partial" / "f").write_bytes(b"first" + bytes(7))
    _reboot(monkeypatch)
    split = _split(tmp_path / "f")
    assert (split.done, split.sizes) == (2, {"f": 5})
    split.close()
    assert _continued(tmp_path / "f") == WHOLE


@pytest.mark.parametrize("sync", [False, True])
def test_what_was_synced_survives_a_reboot_and_nothing_else(tmp_path: Path, sync: bool, monkeypatch) -> None:
    _begun(tmp_path / "f", 2, sync)
    _reboot(monkeypatch)
    for _ in range(2):
        split = _split(tmp_path / "f")
        assert split.done == (3 if sync else 0)
        split.close()
    assert _continued(tmp_path / "f") == WHOLE


def test_whole_files_that_were_not_synced_are_removed_after_a_reboot(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "s.partial"
    split = PartialSplit(folder, {})
    split.write([Piece(name="cat/1.png", data=b"1", whole=True)], 1)
    split.sync()
    split.write([Piece(name="cat/2.png", data=b"2", whole=True)], 1)
    split.close()
    _reboot(monkeypatch)
    assert PartialSplit(folder, {}).done == 1
    assert [path.name for path in folder.rglob("*.png")] == ["1.png"]


def test_a_system_without_a_boot_id_counts_only_what_was_synced(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(partial, "_boot_id", lambda: "")
    _begun(tmp_path / "f", 1, sync=True)
    _begun(tmp_path / "f", 0)
    assert _split(tmp_path / "f").done == 2


def test_the_disk_is_waited_for_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[float] = []
    now = [0.0]
    split = PartialSplit(tmp_path / "s.partial", {}, clock=lambda: now[0])
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(now[0]))
    for number, now[0] in enumerate([0.3, 0.6, 1.1, 1.5, 2.2]):
        split.write([Piece(name=f"{number}", data=b"x")], 1)
    assert sorted(set(synced)) == [1.1, 2.2]


def test_other_facts_are_refused_with_a_hint(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "f", 1)
    with pytest.raises(NetdynoError, match=r"same count, .*Delete .*f.partial") as error:
        _split(tmp_path / "f", {**FACTS, "count": 7})
    assert str(folder) in str(error.value)
    assert _split(tmp_path / "f").done == 2


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"somebody's")
    with pytest.raises(NetdynoError, match="has it already"):
        partial.begin_folder(tmp_path, "idx", "train", [tmp_path / "f"])
    assert (tmp_path / "f").read_bytes() == b"somebody's"


def test_another_process_is_refused_while_one_writes(tmp_path: Path) -> None:
    file = _split(tmp_path / "f")
    code = "import sys; from pathlib import Path; from netdyno.data.partial import PartialSplit; "
    code += f"PartialSplit(Path(sys.argv[1]), {FACTS!r})"
    command = [sys.executable, "-c", code, str(tmp_path / "f.partial")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    second = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "another process is writing" in second.stderr
    file.close()
    assert subprocess.run(command, env=environment).returncode == 0


def test_a_full_disk_is_one_line_and_what_was_safe_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _split(tmp_path / "f")
    _append(file, *CHUNKS[0])
    _fill_the_disk(monkeypatch, after_bytes=3)
    with pytest.raises(NetdynoError, match=r"No space left on device\. 2 items are safe"):
        _append(file, *CHUNKS[1])
    monkeypatch.undo()
    assert (tmp_path / "f.partial" / "f").read_bytes() == b"first"
    _append(file, *CHUNKS[1])
    file.close()
    assert _continued(tmp_path / "f") == WHOLE


def test_a_disk_that_fills_while_the_log_is_written_takes_the_data_back(tmp_path: Path, monkeypatch) -> None:
    split = PartialSplit(tmp_path / "s.partial", {})
    _fill_the_disk(monkeypatch, after_bytes=10)
    with pytest.raises(NetdynoError, match="No space left"):
        split.write([Piece(name="a", data=b"12345"), Piece(name="b/c", data=b"123", whole=True)], 2)
    monkeypatch.undo()
    assert split.done == 0
    assert not [path for path in (tmp_path / "s.partial").rglob("*") if path.is_file() and path.name != LOG]
    assert len((tmp_path / "s.partial" / LOG).read_bytes().splitlines()) == 1


def _fill_the_disk(monkeypatch: pytest.MonkeyPatch, after_bytes: int) -> None:
    room = [after_bytes]
    write = os.pwrite

    def pwrite(descriptor: int, data: bytes, at: int) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, bytes(data)[: room[0]], at)
        room[0] -= written
        return written

    monkeypatch.setattr(os, "pwrite", pwrite)


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_finish_that_was_interrupted_is_completed(tmp_path: Path, moved: int, monkeypatch) -> None:
    folder = tmp_path / "s.partial"
    split = PartialSplit(folder, FACTS)
    split.write([Piece(name="a", data=b"images"), Piece(name="d/b", data=b"labels", whole=True)], 6)
    rename, left = os.rename, [moved]

    def interrupted(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted if moved < 2 else rename)
    monkeypatch.setattr(os, "unlink", lambda path: pytest.fail("the log went before the files"))
    with pytest.raises((KeyboardInterrupt, pytest.fail.Exception)):
        split.finish()
    monkeypatch.undo()
    split.close()
    assert (folder / LOG).exists()
    again = PartialSplit(folder, FACTS)
    assert again.done == 6
    again.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]
    assert (tmp_path / "d" / "b").read_bytes() == b"labels"


def test_files_of_a_write_that_was_cut_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "s.partial"
    split = PartialSplit(folder, {})
    split.write([Piece(name="train/cat/1.png", data=b"1", whole=True)], 1)
    (folder / "train/cat/2.png").write_bytes(b"to")
    split.close()
    PartialSplit(folder, {})
    assert [path.name for path in folder.rglob("*.png")] == ["1.png"]


def test_a_name_that_is_taken_is_refused_and_nothing_of_the_write_stays(tmp_path: Path) -> None:
    split = PartialSplit(tmp_path / "s.partial", {})
    split.write([Piece(name="1", data=b"1", whole=True)], 1)
    with pytest.raises(NetdynoError, match=r"/1: .*File exists"):
        split.write([Piece(name="2", data=b"2", whole=True), Piece(name="1", data=b"x", whole=True)], 2)
    assert (tmp_path / "s.partial" / "1").read_bytes() == b"1"
    assert not (tmp_path / "s.partial" / "2").exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NetdynoError, match="cannot write"):
        _split(tmp_path / "file" / "f")
