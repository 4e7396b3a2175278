"""What a start claims before it changes anything: the instance folder, the address and port."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from config import Settings

SUPERVISOR = "serve.lock"
PARTS = "serve.parts"
LEFTOVERS_END_WITHIN = 12.0  # seconds that the parts of a killed supervisor take to end
BACKLOG = 2048


class CannotStart(Exception):
    """The service cannot start. The message is one sentence for the person who started it."""


@contextlib.contextmanager
def lock_instance(folder: Path) -> Iterator[int]:
    """Hold the instance folder as its one supervisor.

    Two locks: this process's own, and one that its parts inherit by the descriptor given here. So
    the parts of a supervisor that was killed are waited for, instead of being met at the port.
    """
    try:
        own = os.open(folder / SUPERVISOR, os.O_RDWR | os.O_CREAT, 0o600)
        parts = os.open(folder / PARTS, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotStart(f"INSTANCE_PATH {folder} cannot be written ({error}).") from None
    try:
        if not _try_lock(own):
            pid = os.pread(own, 20, 0).decode().strip() or "unknown"
            raise CannotStart(f"bin/serve runs already on {folder} (process {pid}).")
        os.ftruncate(own, 0)
        os.pwrite(own, f"{os.getpid()}\n".encode(), 0)
        _wait_for_leftovers(parts, folder)
        yield parts
    finally:
        os.close(parts)
        os.close(own)


def _wait_for_leftovers(parts: int, folder: Path) -> None:
    if _try_lock(parts):
        return
    sys.stderr.write("Waiting for the end of an earlier bin/serve that was killed …\n")
    deadline = time.monotonic() + LEFTOVERS_END_WITHIN
    while not _try_lock(parts):
        if time.monotonic() > deadline:
            raise CannotStart(
                f"Processes of an earlier bin/serve still use {folder}; end them first."
            )
        time.sleep(0.1)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def listen(settings: Settings) -> Iterator[socket.socket]:
    """A listening socket on HOST and PORT, which is handed to the web server: between a check and
    its own attempt nobody can take the port. Early requests wait in it until they are served."""
    host, port = settings.host, settings.port
    try:
        # IPv4 first: a name such as localhost may stand for an address of each kind.
        found = sorted(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        )
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotStart(
            f"HOST {host} is no address of this machine ({error.strerror})."
        ) from None
    with listener:
        try:
            # Without it a restart is refused for a minute. It lets nobody share the port on Linux
            # once one listens; so the second of two is refused by bind, or else by listen.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise CannotStart(_why_not(error, host, port)) from None
        yield listener


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use by another program; set PORT to a free one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs rights that this user lacks; set PORT to one above 1023."
    return f"HOST {host} is no address of this machine ({error.strerror})."
