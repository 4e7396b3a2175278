"""The version of Canopy, as in the changelog, and the commit of its code.

``VERSION`` is the only place of the number; ``bin/release`` sets it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VERSION: Final = "0.1.0"

_ROOT: Final = Path(__file__).resolve().parents[2]
# For places without a repository: git writes the commit into this file when it makes an archive,
# and the Dockerfile when it makes an image. In a checkout it has a placeholder.
_FILE: Final = "app/values/commit"
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHOWN: Final = 12  # digits


def read_commit(root: Path = _ROOT) -> str | None:
    """The full hash of the commit whose code is in this folder; None if that is unknown.

    Uncommitted changes are ignored. The program git is not needed.
    """
    try:
        written = (root / _FILE).read_text("ascii").strip()
        return written if _HASH.fullmatch(written) else _checked_out(root / ".git")
    except (OSError, ValueError):
        return None


def describe_version(version: str, commit: str | None) -> str:
    """A version and its commit for people: ``0.1.0 (commit 0123456789ab)``."""
    return f"{version} ({f'commit {commit[:_SHOWN]}' if commit else 'unknown commit'})"


def _checked_out(git: Path) -> str | None:
    """The commit that a repository has checked out; its folder may be a worktree's."""
    if git.is_file():
        git = git.parent / git.read_text().strip().removeprefix("gitdir: ")
    common = git / "commondir"
    shared = git / common.read_text().strip() if common.is_file() else git
    head = (git / "HEAD").read_text().strip()
    commit = _git_branch(shared, head.removeprefix("ref: ")) if head.startswith("ref: ") else head
    return commit if commit and _HASH.fullmatch(commit) else None


def _git_branch(git: Path, name: str) -> str | None:
    loose, packed = git / name, git / "packed-refs"
    if loose.is_file():
        return loose.read_text().strip()
    for line in packed.read_text().splitlines() if packed.is_file() else ():
        commit, _, its_name = line.partition(" ")
        if its_name == name:
            return commit
    return None
