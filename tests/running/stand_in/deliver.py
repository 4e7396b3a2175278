"""Stands in for ``app/webhooks/jobs.py``: a job that lingers until nobody has rung for a while."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.core import stopping
from app.core.bells import DELIVERIES_BELL
from app.core.store import store

TRACES = Path(os.environ["INSTANCE_PATH"])


def deliver() -> None:
    client = store().client
    DELIVERIES_BELL.begin(client)
    _note("begun")
    while DELIVERIES_BELL.wait(client, float(os.environ.get("LINGER", "0.3"))):
        _note("woken")
    if stopping.is_asked():
        _note("asked")


def _note(what: str) -> None:
    with (TRACES / "deliveries").open("a") as file:
        file.write(f"{what} {time.time()} {os.getpid()}\n")
