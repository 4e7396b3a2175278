"""Logs of child processes: small, and seen on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.processes.logfiles import Mirror, last_lines, open_log, rotate_log
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "web.log"


def test_a_writer_goes_on_in_a_rotated_log(log: Path) -> None:
    writer = open_log(log)
    os.write(writer, b"old\n" * 100)
    rotate_log(log, limit=100, files=2)
    os.write(writer, b"new\n")
    os.close(writer)
    assert log.read_bytes() == b"new\n"
    assert Path(f"{log}.1").read_bytes() == b"old\n" * 100


def test_a_small_log_is_left_alone(log: Path) -> None:
    os.close(open_log(log))
    rotate_log(log, limit=0, files=2)
    assert [path.name for path in log.parent.iterdir()] == ["web.log"]


def test_as_many_files_are_kept_as_are_set(log: Path) -> None:
    writer = open_log(log)

    def write(*texts: str, files: int) -> dict[str, str]:
        for text in texts:
            os.write(writer, text.encode())
            rotate_log(log, limit=0, files=files)
        return {path.name: path.read_text() for path in log.parent.iterdir()}

    three = {"web.log": "", "web.log.1": "d", "web.log.2": "c", "web.log.3": "b"}
    assert write("a", "b", "c", "d", files=4) == three
    assert write("e", files=2) == {"web.log": "", "web.log.1": "e"}
    assert write("f", files=1) == {"web.log": ""}
    os.close(writer)


def test_a_log_that_cannot_be_copied_stays(log: Path) -> None:
    log.parent.mkdir()
    log.write_text("old\n" * 1000)
    command = (
        "import resource, signal, sys\nfrom pathlib import Path\n"
        "from app.processes.logfiles import rotate_log\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"  # as a full disk
        "rotate_log(Path(sys.argv[1]), 1, 3)"
    )
    subprocess.run([sys.executable, "-c", command, log], check=True, timeout=PATIENCE)
    assert {path.name: path.read_text() for path in log.parent.iterdir()} == {
        "web.log": "old\n" * 1000
    }


def test_the_last_lines(log: Path) -> None:
    assert last_lines(log) == ""
    os.close(open_log(log))
    log.write_text("".join(f"line {number}\n" for number in range(5000)))
    assert last_lines(log, 2) == "line 4998\nline 4999\n"


def test_a_mirror_shows_whole_new_lines_also_after_a_rotation(log: Path) -> None:
    writer = open_log(log)
    os.write(writer, b"before\n")
    reading, writing = os.pipe()
    mirror = Mirror([log], writing)
    os.write(writer, b"after\n")
    assert os.read(reading, 100).decode() == "web │ after\n"
    os.write(writer, b"one\ntw")
    assert os.read(reading, 100).decode() == "web │ one\n"
    os.write(writer, b"o\n")
    assert os.read(reading, 100).decode() == "web │ two\n"
    rotate_log(log, limit=1, files=2)
    time.sleep(0.3)
    os.write(writer, b"x\n")
    mirror.stop()
    assert os.read(reading, 100).decode() == "web │ x\n"
    for descriptor in (reading, writing, writer):
        os.close(descriptor)


def test_a_terminal_that_takes_nothing_holds_nobody_up(log: Path) -> None:
    writer = open_log(log)
    reading, writing = os.pipe()
    mirror = Mirror([log], writing)
    for _ in range(2000):
        os.write(writer, b"x" * 100 + b"\n")
    stopping = threading.Thread(target=mirror.stop, daemon=True)
    stopping.start()
    stopping.join(PATIENCE)
    assert not stopping.is_alive()
    assert mirror._thread.is_alive()  # it still waits for the terminal
    os.close(reading)  # ends the thread
    wait_for(lambda: not mirror._thread.is_alive())
    os.close(writing)
    os.close(writer)
