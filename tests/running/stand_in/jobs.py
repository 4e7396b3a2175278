"""Jobs, each of which leaves a trace in the instance folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.core import stopping

TRACES = Path(os.environ["INSTANCE_PATH"])


def sleep(seconds: int) -> None:
    (TRACES / "job.started").write_text(str(os.getpid()))
    time.sleep(seconds)
    (TRACES / "job.finished").touch()


def wait() -> None:
    """Goes on until it is asked to stop."""
    (TRACES / "job.started").write_text(str(os.getpid()))
    assert stopping.asked.wait(30)
    (TRACES / "job.asked").touch()


def tick() -> None:
    with (TRACES / "ticks").open("a") as file:
        file.write(f"{time.time()}\n")


def fail() -> None:
    with (TRACES / "failures").open("a") as file:
        file.write(f"{time.time()}\n")
    raise RuntimeError("meant to fail")
