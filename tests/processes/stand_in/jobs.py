"""Jobs, each of which leaves a trace in the instance folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.stand_in.deliver import NEW_DELIVERIES, deliver

from app.jobs import shutdown
from app.jobs.registry import Job

TRACES = Path(os.environ.get("INSTANCE_PATH", "instance"))


def sleep(seconds: int) -> None:
    (TRACES / "job.started").write_text(str(os.getpid()))
    time.sleep(seconds)
    (TRACES / "job.finished").touch()


def wait() -> None:
    """Goes on until it is asked to stop."""
    (TRACES / "job.started").write_text(str(os.getpid()))
    assert shutdown.requested.wait(300)
    (TRACES / "job.asked").touch()


def tick() -> None:
    with (TRACES / "ticks").open("a") as file:
        file.write(f"{time.time()}\n")


def fail() -> None:
    with (TRACES / "failures").open("a") as file:
        file.write(f"{time.time()}\n")
    raise RuntimeError("meant to fail")


JOBS = (
    *(Job(sleep), Job(wait), Job(fail), Job(tick, every_seconds=2)),
    Job(deliver, every_seconds=60, signal=NEW_DELIVERIES),
)
