"""An instance starts, serves and ends as one."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes.conftest import ENDLESS, restore_constants, set_constants
from tests.processes.instances import (
    Instance,
    Marked,
    ask_slowly,
    fetch,
    responds,
    start_job,
    starts_a_job,
)
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow

# Makes the terminal that is its input the one whose Ctrl-C it gets, as a shell does.
TAKE_TERMINAL = """
import fcntl, runpy, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_module("app.serve", run_name="__main__", alter_sys=True)
"""

Serve = Callable[..., Instance]


def test_serves_and_ends_with_0_when_asked(
    serve: Serve, environment: dict[str, str], marked: Marked
) -> None:
    """It rotates its logs as it is set, and tells of a setting of former versions."""
    log = Path(environment["INSTANCE_PATH"], "logs", "web.log")
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * (1024**2 + 1))
    Path(f"{log}.1").write_text("former")
    Path(f"{log}.2").write_text("older")
    former = "postgresql://canopy:hunter2@replica/canopy"
    instance = serve(LOG_FILE_MB="1", LOG_FILES="3", DATABASE_REPLICA_URL=former)
    line = instance.wait_until_ready()
    assert line == f"Canopy runs at http://127.0.0.1:{instance.port}, empty=False"
    assert instance.get("/healthz") == "ok"
    names = {
        "application.log",
        "valkey.log",
        "web.log",
        "web.log.1",
        "web.log.2",
        "worker.log",  # which may begin after the web server responds
    }
    wait_for(lambda: {path.name for path in (instance.folder / "logs").iterdir()} == names)
    assert log.stat().st_size < 1024**2 < Path(f"{log}.1").stat().st_size
    assert Path(f"{log}.2").read_text() == "former"
    instance.send(signal.SIGTERM)
    code, told = instance.end()
    assert code == 0
    logged = (instance.folder / "logs" / "application.log").read_text()
    for text in (told, logged):
        assert "DATABASE_REPLICA_URL is set, and no longer used: reads go to the primary" in text
        assert "hunter2" not in text
    assert marked.pids() == []


def test_logs_go_to_standard_error_instead(serve: Serve) -> None:
    instance = serve(LOG_FILES="0")
    instance.wait_until_ready()
    wait_for(lambda: starts_a_job(instance))
    instance.send(signal.SIGTERM)
    assert instance.process.wait(PATIENCE) == 0
    assert instance.process.stderr is not None
    said = instance.process.stderr.read()
    assert "valkey │ " in said
    assert [path.name for path in (instance.folder / "logs").iterdir()] == ["valkey.log"]


def test_why_valkey_died_is_said_of_this_run_alone(
    serve: Serve, environment: dict[str, str], marked: Marked
) -> None:
    log = Path(environment["INSTANCE_PATH"], "logs", "valkey.log")
    log.parent.mkdir(parents=True)
    log.write_text("of a former run\n")
    instance = serve(RESTART_PARTS="false")
    instance.wait_until_ready()
    os.kill(marked.pids("unixsocket:")[0], signal.SIGKILL)
    assert instance.process.wait(PATIENCE) == 1
    assert instance.process.stderr is not None
    said = instance.process.stderr.read()
    assert "Valkey died (" in said
    assert "Ready to accept connections" in said
    assert "of a former run" not in said


@pytest.mark.trial
def test_a_terminal_that_is_closed_ends_it(instance: Instance, marked: Marked) -> None:
    instance.send(signal.SIGHUP)
    assert instance.end() == (0, "")
    assert marked.pids() == []


def test_what_is_under_way_is_finished(instance: Instance) -> None:
    start_job(instance, 1)
    with ThreadPoolExecutor() as pool:
        answer = ask_slowly(instance, pool, 1)
        instance.send(signal.SIGTERM)
        assert instance.end() == (0, "")
        assert answer.result() == "slept 1"
    assert (instance.folder / "job.finished").exists()


@pytest.mark.trial
def test_what_does_not_finish_is_ended(serve: Serve, tree: Path, marked: Marked) -> None:
    restore_constants(tree, "app/preload.py", "app/processes/job_worker.py", "gunicorn.conf.py")
    instance = serve()
    instance.wait_until_ready()
    start_job(instance, ENDLESS)
    with ThreadPoolExecutor() as pool:
        answer = ask_slowly(instance, pool, ENDLESS)
        instance.send(signal.SIGTERM)
        assert instance.end() == (0, "")
        assert instance.took > 6
        assert isinstance(answer.exception(), OSError)
    assert marked.pids() == []


# The name of a part, what finds its processes, and its log.
PARTS = {
    "The worker": (lambda marked: marked.named("worker"), "worker.log"),
    "The web server": (lambda marked: marked.named("web server"), "web.log"),
    "The application": (lambda marked: marked.pids("app.preload"), "application.log"),
    "Valkey": (lambda marked: marked.pids("unixsocket:"), "valkey.log"),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.trial)]
)
def test_a_part_that_dies_or_is_stopped_comes_again(
    instance: Instance, marked: Marked, part: str, number: int
) -> None:
    find, log = PARTS[part]
    before = find(marked)[0]
    os.kill(before, number)
    wait_for(lambda: before not in marked.pids() and find(marked))
    wait_for(lambda: responds(instance))
    (instance.folder / "job.started").unlink(missing_ok=True)
    wait_for(lambda: starts_a_job(instance))
    if part in ("The application", "Valkey"):
        assert instance.process.stderr is not None
        line = instance.process.stderr.readline()
        assert line.startswith(f"{part} died (")
        assert f"; its log is {instance.folder / 'logs' / log}. It is started again" in line
    instance.send(signal.SIGTERM)
    assert instance.end()[0] == 0
    assert marked.pids() == []


def test_a_stopped_valkey_does_not_outlive_it(instance: Instance, marked: Marked) -> None:
    for words in ("valkey_watchdog.py", "unixsocket:"):
        os.kill(marked.pids(words)[0], signal.SIGSTOP)
    instance.send(signal.SIGTERM)
    assert instance.end() == (0, "")
    assert marked.pids() == []


@pytest.mark.parametrize("part", ["The worker", "The application"])
def test_the_death_of_a_part_ends_all_if_that_is_wanted(
    serve: Serve, marked: Marked, part: str
) -> None:
    instance = serve(RESTART_PARTS="false")
    instance.wait_until_ready()
    find, log = PARTS[part]
    os.kill(find(marked)[0], signal.SIGKILL)
    path = instance.folder / "logs" / log
    assert instance.end() == (1, f"{part} died (signal SIGKILL); its log is {path}.")
    assert marked.pids() == []


@pytest.mark.trial
def test_a_migration_may_take_longer_than_a_start(serve: Serve, tree: Path) -> None:
    set_constants(tree, {"app/processes/supervisor.py": {"READY_WITHIN": 12}})
    instance = serve(FAULT="database slow")
    assert instance.process.stderr is not None
    assert instance.process.stderr.readline() == "Migrating.\n"  # while it lasts
    instance.wait_until_ready()


FAULTS = {
    "worker": ("worker.py", "def work(*_):\n    raise SystemExit('the reason')", "the reason"),
    "application": ("wsgi.py", "raise RuntimeError('why')", "RuntimeError: why"),
}


@pytest.mark.trial
@pytest.mark.parametrize("part", FAULTS)
def test_a_part_that_ends_by_itself_at_the_start(
    serve: Serve, tree: Path, marked: Marked, part: str
) -> None:
    name, code, reason = FAULTS[part]
    with (tree / name).open("a") as file:
        file.write(f"\n\n{code}\n")
    instance = serve()
    assert instance.process.stderr is not None
    errors = instance.process.stderr.read().splitlines()
    log = instance.folder / "logs" / f"{part}.log"
    assert errors[-2:] == [reason, f"The {part} died (exit code 1); its log is {log}."]
    assert instance.process.wait() == 1
    assert marked.pids() == []


def test_nothing_outlives_a_killed_supervisor(instance: Instance, marked: Marked) -> None:
    start_job(instance, 1)
    instance.process.kill()
    instance.end()
    wait_for(lambda: not marked.pids())
    assert (instance.folder / "job.finished").exists()


@pytest.mark.trial
def test_a_killed_supervisor_can_be_followed_at_once(serve: Serve) -> None:
    first = serve()
    first.wait_until_ready()
    with ThreadPoolExecutor() as pool:
        answer = ask_slowly(first, pool, 2)
        first.process.kill()
        second = serve()
        second.wait_until_ready()
        assert second.get("/healthz") == "ok"
        assert answer.result() == "slept 2"
    second.send(signal.SIGTERM)
    code, _ = second.end()
    assert code == 0
    first.end()


@pytest.mark.trial
def test_on_a_terminal(tree: Path, environment: dict[str, str], marked: Marked) -> None:
    """it sees the welcome and then each request, as text; Ctrl-C ends all of it."""
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL],
        cwd=tree,
        env=environment,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
    )
    os.close(inner)
    seen = ""
    while "Canopy runs" not in seen:
        seen += os.read(terminal, 1000).decode()
    fetch(int(environment["PORT"]), "/pid")
    while "GET /pid" not in seen:
        seen += os.read(terminal, 1000).decode()
    assert "web         │ " in seen
    assert "{" not in seen
    os.write(terminal, b"\x03")
    assert process.wait(PATIENCE) == 0
    os.close(terminal)
    assert marked.pids() == []
