"""A parent and its children: they come again when they die, and all of them end."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.processes.parent_pipe import VARIABLE, ParentPipe
from tests.captured import piped
from tests.processes.conftest import ENDLESS, set_constants
from tests.processes.instances import Marked
from tests.waiting import PATIENCE, wait_for

_SCRIPT = """
import ctypes, os, signal, sys, threading, time
from app.processes.prefork import Child, Parent

def note():
    print("child", os.getpid(), time.monotonic(), flush=True)

def die():
    note()
    sys.exit(3)

def work():
    note()
    while True:  # one long sleep does not end for a signal that comes as it begins
        time.sleep(0.05)

hang = work_too = work

def ignore():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    work()

def fail():
    raise RuntimeError("the reason")

def leave_orphan():
    if not os.fork():
        time.sleep(600)
    work()

ctypes.CDLL(None).prctl(36, 1)  # orphans fall to this process, as to process 1

signs = {"hang": lambda: 0.0}
children = [Child(name, globals()[name], last_sign=signs.get(name)) for name in sys.argv[1:]]
Parent(children, end_within=float(os.environ["END_WITHIN"])).run()
print("end", flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tree: Path, marked: Marked) -> Iterator[Start]:
    """Starts a parent whose children do the tasks of these names."""
    started: list[subprocess.Popen[str]] = []

    def run(*tasks: str, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _SCRIPT, *tasks]
        variables = {"END_WITHIN": str(ENDLESS)} | variables
        process = piped(
            command,
            cwd=tree,
            env={**marked.environment, **variables},
            pass_fds=[int(variables[VARIABLE])] if VARIABLE in variables else [],
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()  # a child that was left behind may hold the other end


def _line(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def _pid(process: subprocess.Popen[str]) -> int:
    return int(_line(process)[1])


def _ends(process: subprocess.Popen[str]) -> float:
    """Seconds that it takes to end."""
    began = time.monotonic()
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.split()[-1]) == (0, "end")
    return time.monotonic() - began


@pytest.mark.slow
def test_a_child_that_dies_comes_again_at_once_and_then_after_pauses(start: Start) -> None:
    process = start("die")
    moments = [float(_line(process)[2]) for _ in range(3)]
    first, second = (later - earlier for earlier, later in itertools.pairwise(moments))
    assert (first >= 0.5, second >= 1.0) == (True, True)
    assert process.stderr is not None
    lines = (line for line in process.stderr if "restarting in" in line)
    logged = [float(line.split()[-2]) for line in itertools.islice(lines, 2)]
    assert logged == [0.5, 1.0]


def test_the_others_go_on_when_one_dies(start: Start, marked: Marked) -> None:
    process = start("work", "ignore")
    first, second = _pid(process), _pid(process)
    os.kill(first, signal.SIGKILL)
    third = _pid(process)
    assert len({first, second, third}) == 3
    assert set(marked.pids()) == {process.pid, second, third}


def test_one_that_shows_no_sign_of_life_comes_again(start: Start, tree: Path) -> None:
    set_constants(tree, {"app/processes/prefork.py": {"SILENT_FOR": 0.5}})
    process = start("hang", "work")
    lives = {_pid(process) for _ in range(2)}
    assert _pid(process) not in lives
    assert process.stderr is not None
    assert "process hang shows no sign of life" in process.stderr.readline()


def test_a_death_is_logged(start: Start) -> None:
    process = start("fail")
    assert process.stderr is not None
    lines = list(itertools.takewhile(lambda line: " died " not in line, process.stderr))
    assert any("RuntimeError: the reason" in line for line in lines)


def test_it_ends_with_its_children(start: Start, marked: Marked) -> None:
    process = start("work", "work_too")
    _line(process), _line(process)
    process.send_signal(signal.SIGINT)
    _ends(process)
    assert marked.pids() == []


def test_a_child_that_does_not_end_is_ended(start: Start, marked: Marked) -> None:
    process = start("ignore", END_WITHIN="0.5")
    _line(process)
    process.terminate()
    assert _ends(process) > 0.4
    assert marked.pids() == []


def _ask_to_end(process: subprocess.Popen[str], marked: Marked) -> None:
    """Ask one with the tasks ``ignore`` and ``work``, and return once it has heard it."""
    children = _pid(process), _pid(process)
    process.terminate()
    wait_for(lambda: not set(children) <= set(marked.pids()))


def test_a_second_signal_hastens(start: Start, tree: Path, marked: Marked) -> None:
    set_constants(tree, {"app/processes/signal_pipe.py": {"SAME_REQUEST": 0.1}})
    process = start("ignore", "work")
    _ask_to_end(process, marked)
    time.sleep(0.3)
    process.terminate()
    _ends(process)


def test_the_same_signal_sent_twice_does_not(start: Start, tree: Path, marked: Marked) -> None:
    set_constants(tree, {"app/processes/signal_pipe.py": {"SAME_REQUEST": ENDLESS}})
    process = start("ignore", "work")
    _ask_to_end(process, marked)
    process.terminate()
    time.sleep(0.3)
    assert process.poll() is None


def test_nothing_outlives_a_killed_parent(start: Start, marked: Marked) -> None:
    process = start("ignore", "work")
    _line(process), _line(process)
    process.kill()
    wait_for(lambda: not marked.pids())


def test_it_ends_when_its_supervisor_is_gone(start: Start) -> None:
    pipe = ParentPipe()
    process = start("work", **{VARIABLE: str(pipe.reading)})
    os.close(pipe.reading)
    _line(process)
    assert process.poll() is None
    os.close(pipe.writing)
    _ends(process)


def test_orphans_are_buried(start: Start, marked: Marked) -> None:
    process = start("leave_orphan")
    child = _pid(process)
    wait_for(lambda: len(marked.pids()) == 3)
    (orphan,) = set(marked.pids()) - {child, process.pid}
    os.kill(child, signal.SIGKILL)
    _line(process)
    assert _state(orphan) in ("S", "R")
    os.kill(orphan, signal.SIGKILL)
    wait_for(lambda: _state(orphan) is None)


def _state(pid: int) -> str | None:
    """``Z`` of a process that ended and was not buried; None when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # before it is opened, or read
        return None
