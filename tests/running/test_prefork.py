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

from app.running.parent_pipe import VARIABLE, ParentPipe
from tests.running.instances import Marked, wait_for

_SCRIPT = """
import ctypes, os, signal, sys, threading, time
from app.running.prefork import Parent

def note():
    print("child", os.getpid(), time.monotonic(), flush=True)

def die():
    note()
    sys.exit(3)

def work():
    note()
    time.sleep(60)

work_too = work

def ignore():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    work()

def fail():
    raise RuntimeError("the reason")

def leave_orphan():
    if not os.fork():
        time.sleep(2)
        os._exit(0)
    work()

def show_threads():
    print(len(os.listdir(f"/proc/{os.getppid()}/task")), flush=True)
    work()

ctypes.CDLL(None).prctl(36, 1)  # orphans fall to this process, as to process 1
Parent({name: globals()[name] for name in sys.argv[1:]}, end_within=2).run()
print("end", flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tree: Path, marked: Marked) -> Iterator[Start]:
    """Starts a parent whose children do the tasks of these names."""
    started: list[subprocess.Popen[str]] = []

    def run(*tasks: str, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _SCRIPT, *tasks]
        numbers = [int(number) for number in variables.values()]
        process = subprocess.Popen(
            command,
            cwd=tree,
            env={**marked.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=numbers,
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
    out, _ = process.communicate(timeout=10)
    assert (process.returncode, out.split()[-1]) == (0, "end")
    return time.monotonic() - began


@pytest.mark.slow
def test_a_child_that_dies_comes_again_at_once_and_then_after_pauses(start: Start) -> None:
    process = start("die")
    moments = [float(_line(process)[2]) for _ in range(4)]
    first, second, third = (later - earlier for earlier, later in itertools.pairwise(moments))
    assert 0.5 <= first < 0.9
    assert 1.0 <= second < 1.5
    assert 2.0 <= third < 3.0


def test_the_others_go_on_when_one_dies(start: Start, marked: Marked) -> None:
    process = start("work", "ignore")
    first, second = _pid(process), _pid(process)
    os.kill(first, signal.SIGKILL)
    third = _pid(process)
    assert len({first, second, third}) == 3
    assert set(marked.pids()) == {process.pid, second, third}


def test_a_death_is_logged(start: Start) -> None:
    process = start("fail")
    assert process.stderr is not None
    lines = list(itertools.takewhile(lambda line: " died " not in line, process.stderr))
    assert any("RuntimeError: the reason" in line for line in lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_its_children(start: Start, marked: Marked, number: int) -> None:
    process = start("work", "work_too")
    _line(process), _line(process)
    process.send_signal(number)
    assert _ends(process) < 1
    assert marked.pids() == []


def test_a_child_that_does_not_end_is_ended(start: Start, marked: Marked) -> None:
    process = start("ignore")
    _line(process)
    process.terminate()
    assert 1.8 < _ends(process) < 3
    assert marked.pids() == []


def test_a_second_signal_hastens_and_the_same_one_sent_twice_does_not(start: Start) -> None:
    process = start("ignore")
    _line(process)
    process.terminate()
    time.sleep(0.3)
    process.terminate()
    time.sleep(0.9)
    assert process.poll() is None
    process.terminate()
    assert _ends(process) < 0.5


def test_nothing_outlives_a_killed_parent(start: Start, marked: Marked) -> None:
    process = start("ignore", "work")
    _line(process), _line(process)
    process.kill()
    wait_for(lambda: not marked.pids(), 1)


def test_it_ends_when_its_supervisor_is_gone(start: Start) -> None:
    pipe = ParentPipe()
    process = start("work", **{VARIABLE: str(pipe.reading)})
    os.close(pipe.reading)
    _line(process)
    assert process.poll() is None
    os.close(pipe.writing)
    assert _ends(process) < 1


def test_it_has_one_thread(start: Start) -> None:
    assert _line(start("show_threads")) == ["1"]


def test_orphans_are_buried(start: Start, marked: Marked) -> None:
    process = start("leave_orphan")
    child = _pid(process)
    wait_for(lambda: len(marked.pids()) == 3)
    (orphan,) = set(marked.pids()) - {child, process.pid}
    os.kill(child, signal.SIGKILL)
    _line(process)
    assert _state(orphan) == "S"
    wait_for(lambda: _state(orphan) is None, 4)


def _state(pid: int) -> str | None:
    """``Z`` of a process that ended and was not buried; None when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # before it is opened, or read
        return None
