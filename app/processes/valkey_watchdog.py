"""The process that starts an instance's Valkey, and ends it after its last user.
``embedded_valkey`` starts it.

It is run by its path as a small process, so it imports the standard library only. The kernel
guarantees three things, however a process dies:

* Every user holds a shared lock on ``valkey.users``. The watchdog waits for the exclusive lock,
  which it gets when the last user is gone, and ends the server.
* The watchdog and the server hold ``valkey.lock`` together: while either is alive, no second server
  can open the same data.
* When the watchdog dies, the server is killed (on Linux; elsewhere it goes on, and the next user
  finds it).
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
LOCK_WAIT = 3.0  # seconds for the server before to exit
END_WAIT = 5.0  # seconds that the server has to exit after SIGTERM

OPTIONS = {
    "port": "0",  # no network at all
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",  # the append-only file is enough
    "maxmemory-policy": "noeviction",  # a full server rejects writes; it never drops jobs
    "hz": "2",  # background rounds a second; each takes time at idle
    "loglevel": "notice",
    "daemonize": "no",
}

_PR_SET_PDEATHSIG = 1


def main(instance: Path, binary: str, socket: str, memory_mb: str) -> int:
    """Fork the watchdog, and return at once. Do nothing if a server already runs."""
    lock = os.open(instance / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if not _try_lock(lock):
        return 0
    (instance / DATA).mkdir(mode=0o700, exist_ok=True)
    if Path(socket).parent != instance:
        _make_private(Path(socket).parent)
    log = _open_log(instance / LOG)
    if os.fork():
        return 0
    with open(os.devnull, "rb") as devnull:
        os.dup2(devnull.fileno(), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    _run_server(instance, lock, [binary, *_server_options(socket, memory_mb)], socket)
    os._exit(0)  # the thread that waits for the last user may still wait


def _try_lock(descriptor: int) -> bool:
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
    """Make the folder of the socket, in a folder where others may have made one of that name."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if not is_ours or status.st_mode & 0o077:
        raise PermissionError(f"{folder} must be your own folder, closed to other users")


def _open_log(path: Path) -> int:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LOG_LIMIT:
            path.replace(f"{path}.1")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _server_options(socket: str, memory_mb: str) -> Iterator[str]:
    own = {"unixsocket": socket, "maxmemory": f"{memory_mb}mb"}
    for name, value in {**OPTIONS, **own}.items():
        yield f"--{name}"
        yield value


def _run_server(instance: Path, lock: int, command: list[str], socket: str) -> None:
    """Run the server until it exits, its last user is gone, or this process gets a signal."""
    Path(socket).unlink(missing_ok=True)
    # S603: the command is our own binary with the options above.
    server = subprocess.Popen(  # noqa: S603
        command, cwd=instance / DATA, pass_fds=[lock], preexec_fn=_exit_with_parent(os.getpid())
    )
    state = {
        "server": server.pid,
        "watchdog": os.getpid(),
        "socket": socket,
        "previous": _previous_end(lock),
    }
    _write_state(lock, state)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.terminate())
    threading.Thread(target=_end_after_last_user, args=(instance, server), daemon=True).start()
    _write_state(lock, {**state, "ended": _describe_exit(server.wait())})
    Path(socket).unlink(missing_ok=True)
    if Path(socket).parent != instance:
        Path(socket).parent.rmdir()


def _exit_with_parent(watchdog: int) -> Callable[[], None] | None:
    """Return the function that the server's process calls first: it asks the kernel to kill the
    server when the watchdog dies."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def set_death_signal() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != watchdog:  # it has died already
            os._exit(1)

    return set_death_signal


def _end_after_last_user(instance: Path, server: subprocess.Popen[bytes]) -> None:
    users = os.open(instance / USERS, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(users, fcntl.LOCK_EX)
    server.terminate()
    time.sleep(END_WAIT)
    server.kill()


def _previous_end(lock: int) -> dict[str, object] | None:
    """Return the end of the server before, which a user may not have read yet."""
    try:
        state = json.loads(os.pread(lock, 65536, 0))
        return {"server": state["server"], "ended": state.get("ended")}
    except (ValueError, KeyError, TypeError):
        return None


def _write_state(lock: int, state: dict[str, object]) -> None:
    text = json.dumps(state).encode()
    os.pwrite(lock, text, 0)
    os.ftruncate(lock, len(text))


def _describe_exit(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
