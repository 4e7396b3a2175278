"""A queue for the threads and processes of this machine that write to one SQLite file.

SQLite has a lock for writers but no queue: a writer that finds it taken sleeps and tries again,
longer each time, and is overtaken meanwhile. So the service's changes queue up before they ask for
the lock, first the threads of each process, then the processes. SQLite's lock still protects the
file: other programs write without the queue, and a change that has waited its whole time asks
SQLite, which says that the database is locked.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from app.db.sqlite_interrupts import WatchedConnection
from app.values.deadline import Deadline
from app.values.files import open_lock_file, try_lock, unlock_file

log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 0.0003  # a change takes a few milliseconds


class WriteQueue:
    """The queue for one file, with lock files next to it. If they cannot be made, only the threads
    of this process queue up."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._next = database.with_name(f"{database.name}.next")
        self._writer = database.with_name(f"{database.name}.writer")
        self._descriptor: int | None = None  # the writer's lock file, while it is locked
        self._threads = threading.Lock()
        self._holder: object = None
        self._has_warned = False  # that the lock files cannot be used

    def enter(self, holder: object, deadline: Deadline) -> None:
        """Wait until ``holder`` may write. Does nothing if it may already.

        Raises:
            TimeoutError: the deadline has passed.
        """
        if self._holder is holder:
            return
        if not self._threads.acquire(timeout=deadline.left()):
            raise TimeoutError
        try:
            self._descriptor = self._wait_for_processes(deadline)
        except BaseException:
            self._threads.release()
            raise
        self._holder = holder

    def leave(self, holder: object) -> None:
        """Let the next one write, if it is the turn of ``holder``."""
        if self._holder is not holder:
            return
        self._holder = None
        if self._descriptor is not None:
            unlock_file(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
        self._threads.release()

    def forget(self) -> None:
        """Reset the queue in a forked process, which has inherited its parent's state."""
        if self._descriptor is not None:
            os.close(self._descriptor)  # the parent keeps its lock
            self._descriptor = None
        self._threads = threading.Lock()
        self._holder = None

    def _wait_for_processes(self, deadline: Deadline) -> int | None:
        """Lock the writer's file while holding the next one's: a process that has just written
        finds that locked by one that waits, and comes after it."""
        try:
            following = self._lock(self._next, deadline)
            try:
                return self._lock(self._writer, deadline)
            finally:
                # A process forked meanwhile may have a copy of the descriptor.
                unlock_file(following)
                os.close(following)
        except TimeoutError:
            raise
        except OSError as error:  # another user's, a read-only folder, a file system without locks
            if not self._has_warned:
                log.warning("cannot queue for writing with other processes: %s", error)
            self._has_warned = True
            return None

    def _lock(self, path: Path, deadline: Deadline) -> int:
        """Lock a file, and return its descriptor. Raises TimeoutError or OSError."""
        descriptor = open_lock_file(path)
        try:
            if os.geteuid() == 0:  # an operator's command; the service must be able to lock it too
                owner = self._database.stat()
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            if try_lock(descriptor, wait=deadline.left(), retry=_RETRY_SECONDS):
                return descriptor
            raise TimeoutError
        except BaseException:
            os.close(descriptor)
            raise


class QueuedConnection(WatchedConnection):
    """A connection whose transactions wait in the queue of its file, if it has one. The turn ends
    with the transaction."""

    queue: WriteQueue | None = None

    @contextmanager
    def queued(self) -> Iterator[None]:
        """Wait for the turn of this connection; the block begins a transaction. Both together are
        limited by ``busy_timeout``."""
        if self.queue is None:
            yield
            return
        (milliseconds,) = self.execute("PRAGMA busy_timeout").fetchone()
        deadline = Deadline(milliseconds / 1000)
        try:
            with suppress(TimeoutError):  # then SQLite raises
                self.queue.enter(self, deadline)
            self.execute(f"PRAGMA busy_timeout={_milliseconds_left(deadline)}")
            try:
                yield
            finally:
                self.execute(f"PRAGMA busy_timeout={milliseconds}")
        finally:
            if not self.in_transaction:
                self.queue.leave(self)

    def commit(self) -> None:
        super().commit()
        self._leave()

    def rollback(self) -> None:
        super().rollback()
        self._leave()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._leave()

    def _leave(self) -> None:
        if self.queue is not None:
            self.queue.leave(self)


def join_queue(connection: QueuedConnection) -> None:
    """Give a new connection the queue of its file. A database in memory has none."""
    (path,) = (row[2] for row in connection.execute("PRAGMA database_list") if row[1] == "main")
    if path:
        connection.queue = _queues.setdefault(path, WriteQueue(Path(path)))


def _milliseconds_left(deadline: Deadline) -> int:
    try:
        return int(deadline.left() * 1000)
    except TimeoutError:
        return 0


def _forget_all() -> None:
    for queue in list(_queues.values()):
        queue.forget()


_queues: WeakValueDictionary[str, WriteQueue] = WeakValueDictionary()
os.register_at_fork(after_in_child=_forget_all)
