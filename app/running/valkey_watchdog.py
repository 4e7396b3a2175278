"""Keeps an instance's Valkey running for as long as somebody uses it. Started by ``embedded``.

Runs by its path as a small process of its own, so it imports the standard library only. Three
facts are kept by the kernel and so hold however anybody dies:

* every user holds a shared lock on ``valkey.users``; the keeper waits for the exclusive one, gets
  it when the last user is gone, and ends the server;
* the keeper and the server hold ``valkey.lock`` together: while either lives, no second server
  can open the same data;
* the server is killed by the kernel when the keeper dies (Linux; elsewhere a keeper that is killed
  with -9 leaves its server, which the next user takes over).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

USERS = "valkey.users"
LOCK = "valkey.lock"
DATA = "valkey"
LOG = Path("logs") / "valkey.log"

LOG_LIMIT = 10 * 1024 * 1024
LOCK_WAIT = 3.0  # seconds that a server which just ended may take to be gone
END_WAIT = 5.0  # seconds that a server may take to end when asked

OPTIONS = {
    "port": "0",  # no network at all
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",  # the append-only file is enough
    "maxmemory": "256mb",
    "maxmemory-policy": "noeviction",  # a full server says so; it never drops jobs
    "loglevel": "notice",
    "daemonize": "no",
}

_PR_SET_PDEATHSIG = 1


def main(instance: Path, binary: str, socket: str) -> int:
    """Start the keeper and return at once; it goes on in a process of its own."""
    lock = os.open(instance / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if not _locked(lock):
        return 0  # a server runs already, whoever started this one will find it, or not
    (instance / DATA).mkdir(mode=0o700, exist_ok=True)
    if Path(socket).parent != instance:
        _make_private(Path(socket).parent)
    log = _open_log(instance / LOG)
    if os.fork():
        return 0
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    _keep(instance, lock, [binary, *_options(socket)], socket)
    os._exit(0)  # the thread that waits for the last user may still wait


def _locked(descriptor: int) -> bool:
    deadline = time.monotonic() + LOCK_WAIT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def _make_private(folder: Path) -> None:
    """Make the socket's own folder. It is in a place shared with others, one of whom may have made
    something of that name before."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if not mine or status.st_mode & 0o077:
        raise PermissionError(f"{folder} must be a folder of yours that nobody else can enter")


def _open_log(path: Path) -> int:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LOG_LIMIT:
            path.replace(f"{path}.1")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _options(socket: str) -> Iterator[str]:
    for name, value in {**OPTIONS, "unixsocket": socket}.items():
        yield f"--{name}"
        yield value


def _keep(instance: Path, lock: int, command: list[str], socket: str) -> None:
    """Run the server until it ends by itself, its last user is gone, or this process is asked."""
    Path(socket).unlink(missing_ok=True)
    # S603: the command is our own binary with the options above.
    server = subprocess.Popen(  # noqa: S603
        command, cwd=instance / DATA, pass_fds=[lock], preexec_fn=_die_with(os.getpid())
    )
    state = {"server": server.pid, "socket": socket, "previous": _last(lock)}
    _write(lock, state)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.terminate())
    threading.Thread(target=_end_after_last_user, args=(instance, server), daemon=True).start()
    _write(lock, {**state, "ended": _how(server.wait())})
    Path(socket).unlink(missing_ok=True)
    if Path(socket).parent != instance:
        Path(socket).parent.rmdir()


def _die_with(keeper: int) -> Callable[[], None] | None:
    """What the server's process does first: ask the kernel to kill it when the keeper dies."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:  # it died before it was asked
            os._exit(1)

    return ask


def _end_after_last_user(instance: Path, server: subprocess.Popen[bytes]) -> None:
    users = os.open(instance / USERS, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(users, fcntl.LOCK_EX)
    server.terminate()
    time.sleep(END_WAIT)
    server.kill()


def _last(lock: int) -> dict[str, object] | None:
    """What the file says of the server before, of which somebody may still want to know."""
    try:
        state = json.loads(os.pread(lock, 65536, 0))
        return {"server": state["server"], "ended": state.get("ended")}
    except (ValueError, KeyError, TypeError):
        return None


def _write(lock: int, state: dict[str, object]) -> None:
    text = json.dumps(state).encode()
    os.pwrite(lock, text, 0)
    os.ftruncate(lock, len(text))


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
