"""Stands in for ``app/webhooks/deliveries/jobs.py``: a job that ends when no signal has come for a
while."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.jobs import shutdown
from app.jobs.queue import DELIVERIES
from app.jobs.valkey import valkey
from app.jobs.wake_signals import WakeSignal

NEW_DELIVERIES = WakeSignal("deliveries", DELIVERIES, 60)
TRACES = Path(os.environ.get("INSTANCE_PATH", "instance"))


def deliver() -> None:
    client = valkey().client
    NEW_DELIVERIES.begin(client)
    _note("begun")
    while NEW_DELIVERIES.wait(client, float(os.environ.get("LINGER", "0.3"))):
        _note("woken")
    if shutdown.requested.is_set():
        _note("asked")


def _note(what: str) -> None:
    with (TRACES / "deliveries").open("a") as file:
        file.write(f"{what} {time.time()} {os.getpid()}\n")
