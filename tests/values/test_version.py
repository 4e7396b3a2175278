"""The commit of the code: of a checkout, however git stores it, and of what is made from one."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from app.values.version import describe_version, read_commit
from tests.architecture.sources import ROOT
from tests.git import commit_all, git, make_repository

FILES = {name: (ROOT / name).read_text() for name in (".gitattributes", "app/values/commit")}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two commits, and with the file that archives get the commit in."""
    folder = tmp_path / "checkout"
    make_repository(folder, FILES)
    commit_all(folder, "Second")
    return folder


def head(checkout: Path) -> str:
    return git(checkout, "rev-parse", "HEAD")


def test_of_a_checkout(checkout: Path, tmp_path: Path) -> None:
    first, second = git(checkout, "rev-parse", "HEAD~1"), head(checkout)
    assert read_commit(checkout) == second
    git(checkout, "archive", "--output", str(tmp_path / "a.zip"), "HEAD")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    assert read_commit(tmp_path / "unpacked") == second
    git(checkout, "branch", "other", "HEAD~1")
    git(checkout, "tag", "--annotate", "v1", "--message", "v1", "HEAD~1")
    git(checkout, "worktree", "add", "--quiet", str(tmp_path / "tree"), "other")
    assert read_commit(tmp_path / "tree") == first
    git(checkout, "pack-refs", "--all")
    assert not (checkout / ".git/refs/heads/main").exists()
    assert read_commit(checkout) == second
    git(checkout, "checkout", "--quiet", "v1")
    assert read_commit(checkout) == first


def test_of_a_repository_of_sha256(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    made = commit_all(tmp_path, "First")
    (tmp_path / "app/values").mkdir(parents=True)
    (tmp_path / "app/values/commit").write_text(FILES["app/values/commit"])
    assert len(made) == 64
    assert read_commit(tmp_path) == made


def test_of_a_repository_that_cannot_be_read(checkout: Path) -> None:
    for text in ("", "ref: refs/heads/absent", "0123", "é", "g" * 40):
        (checkout / ".git/HEAD").write_text(text)
        assert read_commit(checkout) is None, text


def test_of_what_is_no_repository(checkout: Path, tmp_path: Path) -> None:
    assert read_commit(tmp_path / "absent") is None
    shutil.rmtree(checkout / ".git")
    assert read_commit(checkout) is None
    (checkout / ".git").write_text("gitdir: /absent\n")
    assert read_commit(checkout) is None


def test_in_words() -> None:
    assert describe_version("1.2.3", "0123456789abcdef" * 3) == "1.2.3 (commit 0123456789ab)"
    assert describe_version("1.2.3", None) == "1.2.3 (unknown commit)"
