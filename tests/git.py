"""Repositories of git for tests, as the program git makes them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.captured import captured
from tests.node import skip

# Whatever the caller's git is set to, and even if it runs this within a hook.
SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_NAME": "Ana" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ana@example.org" for who in ("AUTHOR", "COMMITTER")},
}


def git(folder: Path, *words: str) -> str:
    """What git prints when it is run in this folder, without spaces around it.

    Raises:
        subprocess.CalledProcessError: it fails.
    """
    if shutil.which("git") is None:
        skip("git is not installed")
    done = captured(["git", *words], cwd=folder, env=SETTINGS, check=True)
    return done.stdout.strip()


def make_repository(folder: Path, files: dict[str, str]) -> str:
    """Commit files on the branch main of a new repository, and return the hash of the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit_all(folder, "First")


def commit_all(folder: Path, message: str) -> str:
    """Commit all changes and return the hash."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")
