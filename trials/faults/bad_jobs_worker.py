"""The worker with jobs that fail, besides its own. ``python -m trials.faults.bad_jobs_worker``; the
settings are in the environment."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NoReturn

import worker
from app.jobs.registry import Job, register
from trials.faults.worker import FOLDER

PERIOD = 2  # seconds
EATEN = 1 << 30  # bytes; more than the job may have
_PIECE = 1 << 24


def raise_error() -> NoReturn:
    """Fail as a program with a bug does."""
    _note("raise_error")
    raise RuntimeError("this job always fails")


def exit_process() -> NoReturn:
    """End as a program does whose library has a bug."""
    _note("exit_process")
    os._exit(3)


def eat_memory() -> None:
    """Take much memory, and say so when there was no end to it."""
    _note("eat_memory")
    pieces = [bytes(b"x" * _PIECE) for _ in range(EATEN // _PIECE)]
    _note(f"ate {len(pieces)}")


def _note(line: str) -> None:
    with (Path(os.environ[FOLDER]) / "bad-jobs").open("a") as notes:
        notes.write(f"{line} {time.time()}\n")


BAD = tuple(Job(each, every_seconds=PERIOD) for each in (raise_error, exit_process, eat_memory))


if __name__ == "__main__":
    register(BAD)
    sys.exit(worker.main([]))
