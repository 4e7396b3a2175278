"""The worker, which dies at points of a delivery. ``python -m trials.faults.killing_worker``; the
settings are in the environment."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import worker
from app.outbound import Egress
from app.webhooks.deliveries import dispatcher, jobs, leases
from trials.faults.service import FOLDER

POINTS = (
    "after the claim",
    "before it was sent",
    "after it was sent",
    "before the result was written",
)
CLAIMED, UNSENT, SENT, UNWRITTEN = POINTS
VICTIMS = ("job", "job", "worker")  # who dies: the process of the job, or the worker with it
SECONDS = 3.0  # that a job lives at most before
_WORKER = os.getpid()


class Killer:
    """Kills its own process at a point of a delivery, as long as there is a file ``armed`` in the
    folder; each kill is a line of ``kills``. The points take turns."""

    def __init__(self, folder: Path) -> None:
        self._armed, self._kills = folder / "armed", folder / "kills"
        self._lock, self._point = threading.Lock(), ""

    def passes(self, point: str) -> None:
        with self._lock:
            if not self._point and self._armed.exists():
                self._plan()
            if point != self._point or time.monotonic() < self._not_before:
                return
            self._left -= 1
            if self._left <= 0 and self._armed.exists():
                self._kill()

    def _plan(self) -> None:
        """Choose where to die, and when."""
        random.seed()  # each job has chances of its own
        done = len(self._kills.read_text().splitlines()) if self._kills.exists() else 0
        self._point = POINTS[done % len(POINTS)]
        self._victim = random.choice(VICTIMS)
        self._not_before = time.monotonic() + random.uniform(0, SECONDS)
        self._left = random.randint(1, 8)  # times that the point is passed

    def _kill(self) -> None:
        with self._kills.open("a") as kills:
            kills.write(f"{self._point}, {self._victim}\n")
        if self._victim == "worker":
            os.kill(_WORKER, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def _have_faults(killer: Killer) -> None:
    """Put the killer in the way of a delivery."""
    happened: set[str] = set()  # in the current transaction; one thread has them
    real_transaction, real_post = jobs.transaction, Egress.post  # type: ignore[attr-defined]

    @contextmanager
    def transaction() -> Iterator[None]:
        happened.clear()
        with real_transaction():
            yield
            if UNWRITTEN in happened:
                killer.passes(UNWRITTEN)
        if CLAIMED in happened:
            killer.passes(CLAIMED)

    def recording(point: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            if point == UNWRITTEN or result:
                happened.add(point)
            return result

        return call

    def post(self: Egress, *arguments: Any, **options: Any) -> Any:
        killer.passes(UNSENT)
        answer = real_post(self, *arguments, **options)
        killer.passes(SENT)
        return answer

    jobs.transaction, leases.claim_deliveries = (
        transaction,
        recording(CLAIMED, leases.claim_deliveries),
    )
    dispatcher.save_outcomes = recording(UNWRITTEN, dispatcher.save_outcomes)
    Egress.post = post  # type: ignore[method-assign]


if __name__ == "__main__":
    _have_faults(Killer(Path(os.environ[FOLDER])))
    sys.exit(worker.main([]))
