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
from netdyno.data.partial import PartialFile, PartialSplit, Piece, is_unfinished, write_whole
from netdyno.errors import NetdynoError

FACTS = {"count": 6, "classes": ("a", "b")}
CHUNKS = [(b"first", 2), (b"-second", 1), (b"-third one", 3)]
WHOLE = b"first-second-third one"
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _continued(path: Path) -> bytes:
    """The file after all chunks that are not safe yet were written."""
    file = PartialFile(path, FACTS)
    counts = [sum(items for _, items in CHUNKS[:number]) for number in range(len(CHUNKS) + 1)]
    for data, items in CHUNKS[counts.index(file.done) :]:
        file.append(data, items)
    file.finish()
    return path.read_bytes()


def _begun(path: Path, chunks: int, sync: bool = False) -> Path:
    file = PartialFile(path, FACTS)
    for data, items in CHUNKS[:chunks]:
        file.append(data, items, {"bytes": file.size + len(data)})
    if sync:
        file._split.sync()
    file.close()
    return path.with_name(path.name + ".partial")


def test_a_file_is_seen_only_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "train.bin"
    folder = _begun(path, 2)
    assert not path.exists()
    assert is_unfinished(folder)
    assert _continued(path) == WHOLE
    assert list(tmp_path.iterdir()) == [path]


def test_continuing_restores_how_far_the_writer_was_and_its_state(tmp_path: Path) -> None:
    _begun(tmp_path / "f", 2)
    file = PartialFile(tmp_path / "f", FACTS)
    assert (file.done, file.state, file.size) == (3, {"bytes": 12}, 12)


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
def test_a_journal_cut_at_any_byte_continues(tmp_path_factory, cut: int, chunks: int, sync: bool) -> None:
    path = tmp_path_factory.mktemp("cut") / "f"
    journal = _begun(path, chunks, sync) / "journal"
    os.truncate(journal, min(cut, journal.stat().st_size))
    assert _continued(path) == WHOLE


@FEW
@given(noise=st.binary(min_size=1, max_size=40), chunks=st.integers(0, 3))
def test_a_torn_tail_of_any_bytes_is_dropped(tmp_path_factory, noise: bytes, chunks: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "f"
    folder = _begun(path, chunks)
    for name in ("f", "journal"):
        with (folder / name).open("ab") as file:
            file.write(noise)
    assert _continued(path) == WHOLE


def test_bytes_that_never_reached_the_disk_are_not_taken_for_safe(tmp_path: Path) -> None:
    folder = _begun(tmp_path / "f", 2)
    (folder / "f").write_bytes(b"first" + bytes(7))
    assert PartialFile(tmp_path / "f", FACTS).done == 2
    assert _continued(tmp_path / "f") == WHOLE


def test_what_was_synced_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _begun(tmp_path / "f", 2, sync=True)
    monkeypatch.setattr(partial, "_crc32", lambda *_: pytest.fail("it was read again"))
    assert PartialFile(tmp_path / "f", FACTS).done == 3
    assert PartialFile(tmp_path / "f", FACTS).done == 3


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
        PartialFile(tmp_path / "f", {**FACTS, "count": 7})
    assert str(folder) in str(error.value)
    assert PartialFile(tmp_path / "f", FACTS).done == 2


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"somebody's")
    with pytest.raises(NetdynoError, match="has it already"):
        PartialFile(tmp_path / "f", FACTS)
    assert (tmp_path / "f").read_bytes() == b"somebody's"


def test_another_process_is_refused_while_one_writes(tmp_path: Path) -> None:
    file = PartialFile(tmp_path / "f", FACTS)
    code = "import sys; from pathlib import Path; from netdyno.data.partial import PartialFile; "
    code += f"PartialFile(Path(sys.argv[1]), {FACTS!r})"
    command = [sys.executable, "-c", code, str(tmp_path / "f")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    second = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "another process is writing it" in second.stderr
    file.close()
    assert subprocess.run(command, env=environment).returncode == 0


def test_a_full_disk_is_one_line_and_what_was_safe_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PartialFile(tmp_path / "f", FACTS)
    file.append(*CHUNKS[0])
    _fill_the_disk(monkeypatch, after_bytes=3)
    with pytest.raises(NetdynoError, match=r"No space left on device\. 2 items are safe"):
        file.append(*CHUNKS[1])
    monkeypatch.undo()
    assert (tmp_path / "f.partial" / "f").read_bytes() == b"first"
    file.append(*CHUNKS[1])
    file.close()
    assert _continued(tmp_path / "f") == WHOLE


def test_a_disk_that_fills_while_the_journal_is_written_takes_the_data_back(tmp_path: Path, monkeypatch) -> None:
    split = PartialSplit(tmp_path / "s.partial", {})
    _fill_the_disk(monkeypatch, after_bytes=10)
    with pytest.raises(NetdynoError, match="No space left"):
        split.write([Piece(name="a", data=b"12345"), Piece(name="b/c", data=b"123", whole=True)], 2)
    monkeypatch.undo()
    assert split.done == 0
    assert not [path for path in (tmp_path / "s.partial").rglob("*") if path.is_file() and path.name != "journal"]
    assert len((tmp_path / "s.partial" / "journal").read_bytes().splitlines()) == 1


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
    monkeypatch.setattr(os, "unlink", lambda path: pytest.fail("the journal went before the files"))
    with pytest.raises((KeyboardInterrupt, pytest.fail.Exception)):
        split.finish()
    monkeypatch.undo()
    split.close()
    assert is_unfinished(folder)
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


def test_a_small_file_is_replaced_at_once(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "classes.txt", b"a\n")
    write_whole(tmp_path / "new" / "classes.txt", b"b\n")
    assert (tmp_path / "new" / "classes.txt").read_bytes() == b"b\n"
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NetdynoError, match="expected to write"):
        PartialFile(tmp_path / "file" / "f", FACTS)
