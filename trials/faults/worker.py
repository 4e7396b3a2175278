"""The worker with faults of its own: it dies at points of a delivery, and knows names whose
addresses change. ``python -m trials.faults.worker``; the settings are in the environment."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import worker
from app.outbound import Egress
from app.webhooks.deliveries import dispatcher, jobs, leases
from app.webhooks.deliveries.dispatcher import Dispatcher
from app.webhooks.deliveries.types import Outcome

POINTS = (
    "after the claim",
    "before it was sent",
    "after it was sent",
    "before the result was written",
)
CLAIMED, UNSENT, SENT, UNWRITTEN = POINTS
# Who dies: the process of the job, or the worker with it.
VICTIMS = ("job", "job", "worker")
FOLDER = "FAULTS_FOLDER"  # where it finds "armed", and leaves "kills", "job" and "written"
LEASE_SECONDS = "FAULTS_LEASE_SECONDS"  # seconds
NAMES = "FAULTS_NAMES"  # JSON: for each name, what is found in turn: lists of addresses

_real_record_outcomes, _real_transaction = dispatcher.record_outcomes, jobs.transaction
_real_claim = leases.claim
_real_post, _real_run, _real_look_up = Egress.post, Dispatcher.run, socket.getaddrinfo
_worker_pid = os.getpid()


class Killer:
    """Kills its own process at a point of a delivery, as long as there is a file ``armed``. That
    holds, as JSON, how many seconds a job lives at most before, and of whom one dies. The points
    take turns from kill to kill."""

    def __init__(self, folder: Path) -> None:
        self._armed, self._kills, self.job = folder / "armed", folder / "kills", folder / "job"
        self._written = folder / "written"
        self._lock = threading.Lock()
        self._point = ""

    def begin(self) -> None:
        """A job begins in this process."""
        self.job.write_text(str(os.getpid()))

    def write_down(self, outcomes: Sequence[Outcome]) -> None:
        """These are in the database now."""
        now = time.time()
        with self._written.open("a") as written:
            for outcome in outcomes:
                written.write(f"{outcome.delivery.id} {now}\n")

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
        seconds, victims = json.loads(self._armed.read_text())
        self._point = POINTS[done % len(POINTS)]
        self._victim = random.choice(victims)
        self._not_before = time.monotonic() + random.uniform(0, seconds)
        self._left = random.randint(1, 8)  # times that the point is passed

    def _kill(self) -> NoReturn:
        with self._kills.open("a") as kills:
            kills.write(f"{self._point}, {self._victim}\n")
        if self._victim == "worker":
            os.kill(_worker_pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def _have_faults(killer: Killer) -> None:
    """Put the killer in the way of a delivery."""
    happened: set[str] = set()  # in the current transaction; one thread has them
    recorded: list[Outcome] = []  # likewise

    @contextmanager
    def transaction() -> Iterator[None]:
        happened.clear()
        recorded.clear()
        with _real_transaction():
            yield
            if UNWRITTEN in happened:
                killer.passes(UNWRITTEN)
        killer.write_down(recorded)
        if CLAIMED in happened:
            killer.passes(CLAIMED)

    def recording(point: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            if point == UNWRITTEN or result:
                happened.add(point)
            return result

        return call

    def record(run_id: str, outcomes: Sequence[Outcome]) -> bool:
        recorded.extend(outcomes)
        return _real_record_outcomes(run_id, outcomes)

    def post(self: Egress, *arguments: Any, **options: Any) -> Any:
        killer.passes(UNSENT)
        answer = _real_post(self, *arguments, **options)
        killer.passes(SENT)
        return answer

    def run(self: Dispatcher, **options: Any) -> int:
        killer.begin()
        return _real_run(self, **options)

    jobs.transaction, leases.claim = transaction, recording(CLAIMED, _real_claim)
    dispatcher.record_outcomes = recording(UNWRITTEN, record)
    Egress.post, Dispatcher.run = post, run  # type: ignore[method-assign]


def _know(names: dict[str, list[list[str]]]) -> None:
    """Look these names up here, and all others where they are always looked up."""
    answers = {name: itertools.cycle(found) for name, found in names.items()}

    def look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in answers:
            return _real_look_up(host, *arguments, **options)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, 0)) for found in next(answers[name])
        ]

    socket.getaddrinfo = look_up  # type: ignore[assignment]


def main() -> int:
    _have_faults(Killer(Path(os.environ[FOLDER])))
    _know(json.loads(os.environ.get(NAMES, "{}")))
    if seconds := os.environ.get(LEASE_SECONDS):
        leases.LEASE = timedelta(seconds=float(seconds))  # type: ignore[misc]
    return worker.main([])


if __name__ == "__main__":
    sys.exit(main())
