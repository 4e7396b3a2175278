"""Files that only their owner can read, written whole or not at all; and locks between processes.

``config`` and ``app.processes.valkey_watchdog``, which cannot import this package, have their own
code for a key and a lock.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_RETRY_SECONDS: Final = 0.01


def make_files_private() -> None:
    """Let only its user read the files and folders that this process creates from now on.

    Call it after the modules are loaded: their bytecode stays readable for other users of the
    installation.
    """
    os.umask(0o077)


@contextmanager
def new_private_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file with mode 0600, which replaces the one at ``path`` at the end of the block,
    complete and on disk. If the block raises, ``path`` is unchanged.

    Raises:
        OSError: it cannot be written.
    """
    descriptor, draft = tempfile.mkstemp(".part", f".{path.name}.", path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
        _sync_folder(path.parent)
    finally:
        Path(draft).unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    """Write the name of a new file to disk, if the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_private_file(path: Path, content: bytes) -> None:
    """Write all of a file as ``new_private_file`` does. Raises OSError."""
    with new_private_file(path) as file:
        file.write(content)


def open_lock_file(path: Path) -> int:
    """Open a file to lock, and create it if it is missing. Returns its descriptor. Raises
    OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(
    descriptor: int, *, shared: bool = False, wait: float = 0.0, retry: float = _RETRY_SECONDS
) -> bool:
    """Lock an open file. Returns False if another process holds the lock.

    The lock lasts until it is released, or until every copy of the descriptor is closed, with
    those of forked processes.

    Args:
        shared: others may hold a shared lock at the same time.
        wait: seconds to keep trying.
        retry: seconds between two tries.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(retry)
        else:
            return True


def unlock_file(descriptor: int) -> None:
    """Release the lock, also of copies of the descriptor in other processes."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
