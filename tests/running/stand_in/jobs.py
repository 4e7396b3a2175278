"""Jobs, each of which leaves a trace in the instance folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

TRACES = Path(os.environ["INSTANCE_PATH"])


def sleep(seconds: int) -> None:
    (TRACES / "job.started").write_text(str(os.getpid()))
    time.sleep(seconds)
    (TRACES / "job.finished").touch()


def tick() -> None:
    with (TRACES / "ticks").open("a") as file:
        file.write(f"{time.time()}\n")


def fail() -> None:
    with (TRACES / "failures").open("a") as file:
        file.write(f"{time.time()}\n")
    raise RuntimeError("meant to fail")
