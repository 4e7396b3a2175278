"""Files that only their owner can read, written whole or not at all; and locks between processes.

``config`` and ``app.processes.valkey_watchdog`` cannot import this package: the first writes its
key and the second takes its lock by themselves.
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
    """Let only its user read the files and folders that this process makes from now on, also those
    that libraries make. To be called once the modules are loaded, so that the bytecode that Python
    keeps of them stays readable for the other users of the installation."""
    os.umask(0o077)


@contextmanager
def new_private_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, with mode 0600. When the block ends, it replaces the one at ``path``,
    complete and on disk; when the block raises, ``path`` stays as it was.

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
    """Have the name of a new file on the disk, too, where the file system can do that."""
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
    """A descriptor of a file to lock, which is made when it is missing. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(
    descriptor: int, *, shared: bool = False, wait: float = 0.0, retry: float = _RETRY_SECONDS
) -> bool:
    """Lock an open file, against other processes that lock it.

    The lock lasts until every copy of the descriptor is closed, also those that forked processes
    inherited, or until it is unlocked.

    Args:
        shared: whether others may hold a shared lock at the same time.
        wait: seconds to keep trying.
        retry: seconds between two tries.

    Returns:
        Whether the lock is held now; False means that another process holds it.
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


def unlock(descriptor: int) -> None:
    """Release the lock, also of copies of the descriptor in other processes."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
