"""What ``bin/serve`` takes for itself before it changes anything: the instance folder and the
port."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from app.values.files import open_lock_file, try_lock
from config import Settings

SUPERVISOR_LOCK = "serve.lock"
CHILDREN_LOCK = "serve.parts"
ORPHANS_END_WITHIN = 12.0  # seconds in which the children of a killed supervisor end
BACKLOG = 2048


class CannotStart(Exception):
    """The service cannot start. The message is a sentence for the person who started it."""


@contextlib.contextmanager
def lock_instance(folder: Path) -> Iterator[int]:
    """Lock the instance folder for its only supervisor.

    There are two locks: one for this process alone, and one that its children inherit through the
    yielded descriptor. After a supervisor was killed, its children still hold the port for a
    while, so the next supervisor waits for them.

    Raises:
        CannotStart: another process holds a lock, or the folder cannot be written.
    """
    try:
        own = open_lock_file(folder / SUPERVISOR_LOCK)
        children = open_lock_file(folder / CHILDREN_LOCK)
    except OSError as error:
        raise CannotStart(f"INSTANCE_PATH {folder} cannot be written ({error}).") from None
    try:
        if not try_lock(own):
            pid = os.pread(own, 20, 0).decode().strip() or "unknown"
            raise CannotStart(f"The service already runs on {folder} (process {pid}).")
        os.ftruncate(own, 0)
        os.pwrite(own, f"{os.getpid()}\n".encode(), 0)
        _wait_for_orphans(children, folder)
        yield children
    finally:
        os.close(children)
        os.close(own)


def _wait_for_orphans(children: int, folder: Path) -> None:
    if try_lock(children):
        return
    sys.stderr.write("Waiting for the processes of a service that was killed to end …\n")
    if not try_lock(children, wait=ORPHANS_END_WITHIN):
        raise CannotStart(f"Processes of an earlier start still use {folder}; stop them first.")


@contextlib.contextmanager
def open_listener(settings: Settings) -> Iterator[socket.socket]:
    """Open a listening socket on HOST and PORT for the web server to inherit, so that no other
    program can take the port before it starts. Early requests wait in the socket's backlog.

    Raises:
        CannotStart: this machine does not have the address, or the port is in use.
    """
    host, port = settings.host, settings.port
    try:
        # IPv4 first: a name such as localhost may have an address of each kind.
        family, kind, protocol, _, address = min(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        )
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotStart(_describe_port_error(error, host, port)) from None
    with listener:
        try:
            # Without it a restart fails for a minute. It lets no second socket listen on the port:
            # on Linux, its bind or its listen fails.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise CannotStart(_describe_port_error(error, host, port)) from None
        yield listener


def _describe_port_error(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use by another program; set PORT to a free one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs privileges that this user lacks; set PORT to one above 1023."
    return f"HOST {host} is not an address of this machine ({error.strerror})."
