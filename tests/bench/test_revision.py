"""The revision of the user's folder is read from git's files, whatever form they have."""

from pathlib import Path

import pytest

from netdyno.bench.revision import find_revision

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    (tmp_path / "inner" / "folder").mkdir(parents=True)
    return tmp_path


def test_a_branch_is_followed_from_any_folder_inside(repository: Path) -> None:
    assert find_revision(repository) == find_revision(repository / "inner" / "folder") == COMMIT


def test_a_detached_head_is_the_revision(repository: Path) -> None:
    (repository / ".git" / "HEAD").write_text(f"{COMMIT[::-1]}\n")
    assert find_revision(repository) == COMMIT[::-1]


def test_a_packed_branch_is_found(repository: Path) -> None:
    (repository / ".git" / "refs" / "heads" / "main").unlink()
    packed = (
        f"# pack-refs with: peeled fully-peeled sorted\n{COMMIT[::-1]} refs/heads/mainly\n{COMMIT} refs/heads/main\n"
    )
    (repository / ".git" / "packed-refs").write_text(packed)
    assert find_revision(repository) == COMMIT


def test_a_worktree_shares_its_branches(repository: Path, tmp_path: Path) -> None:
    own = repository / ".git" / "worktrees" / "second"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    worktree = repository / "second"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {own}\n")
    assert find_revision(worktree) == COMMIT


@pytest.mark.parametrize("head", ["", "ref: refs/heads/none", "ref: refs/../../../etc/passwd", "ref: HEAD", "\0\xff"])
def test_what_is_not_understood_is_no_revision(repository: Path, head: str) -> None:
    (repository / ".git" / "HEAD").write_text(head)
    assert find_revision(repository) == ""


def test_no_repository_has_no_revision() -> None:
    assert find_revision(Path("/proc")) == ""
