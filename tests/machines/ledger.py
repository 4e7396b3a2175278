"""What clients send and get while hosts fail, and the report about it."""

from __future__ import annotations

import http.client
import json
import select
import ssl
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults.trial_report import TrialReport
from tests.faults.writer import Writer
from tests.make import Client, together

TIMEOUT = 30  # seconds that a client waits
BACK = 10  # seconds until all is good again
SLOW = 3.0  # seconds; a response that takes longer is not a good one
REPEAT_AFTER = 0.2  # seconds
CALLERS = 8  # of a burst
DOCUMENTED = frozenset({200, 201, 204, 409, 429, 503})
GOOD = frozenset({200, 201, 204})


class Answer(NamedTuple):
    """A response. ``status`` is 0 when there was none; times are seconds since the epoch."""

    began: float
    ended: float
    status: int
    is_json: bool = True

    @property
    def is_good(self) -> bool:
        return self.status in GOOD and self.ended - self.began <= SLOW


@dataclass(frozen=True)
class Way:
    """Where clients send their requests to, by HTTPS if there is an authority to trust."""

    name: str
    address: str
    port: int
    authority: Path | None = None
    # When a host fails while it has a request, haproxy closes the client's connection without a
    # response, if that is HTTP/1.1 and had another response before: deploy/hosts/haproxy.cfg.
    may_close: bool = False

    def connect(self) -> http.client.HTTPConnection:
        if self.authority is None:
            return http.client.HTTPConnection(self.address, self.port, timeout=TIMEOUT)
        context = ssl.create_default_context(cafile=str(self.authority))
        return http.client.HTTPSConnection(
            self.address, self.port, timeout=TIMEOUT, context=context
        )

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        """One request on a connection of its own."""
        began, status, is_json = time.time(), 0, True
        connection = self.connect()
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            status, is_json = answer.status, _is_json(answer.read())
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        return Answer(began, time.time(), status, is_json)


class WayWriter(Writer):
    """Writes on one way. ``repeats``: each request with its Idempotency-Key until it is
    acknowledged, as clients should."""

    def __init__(self, way: Way, client: Client, rate: float, *, repeats: bool) -> None:
        self.way, self._repeats = way, repeats
        self.answers: list[Answer] = []
        super().__init__(way.port, client, rate)

    def _connect(self) -> http.client.HTTPConnection:
        return self.way.connect()

    def _create(self, connection: http.client.HTTPConnection, number: int, **headers: str) -> int:
        if self._repeats:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        while True:
            if _was_closed(connection):
                connection.close()  # it opens again
            began = time.time()
            status = super()._create(connection, number, **headers)
            self.answers.append(Answer(began, time.time(), status))
            if status == 201 or not self._repeats or self._over.wait(REPEAT_AFTER):
                return status


class Reader:
    """Reads at some paths of some ways again and again."""

    def __init__(self, ways: Sequence[Way], paths: Iterable[str], client: Client) -> None:
        self.answers: dict[str, list[Answer]] = {path: [] for path in paths}
        self._over = threading.Event()
        self._client = client
        self._threads = [
            threading.Thread(target=self._read, args=(way, path))
            for way in ways
            for path in self.answers
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _read(self, way: Way, path: str) -> None:
        while not self._over.wait(0.25):
            self.answers[path].append(way.get(path, self._client.authorization))


class Turn(NamedTuple):
    """Something that happened, and after how many seconds all must be good. None: it need not; 0:
    nothing may fail, and what is slow must be over after ``BACK``."""

    at: float
    what: str
    writes: float | None
    reads: float | None


@dataclass
class Timeline:
    """What happened in a trial, in turn."""

    turns: list[Turn] = field(default_factory=list)

    def note(self, what: str, writes: float | None = BACK, reads: float | None = BACK) -> None:
        self.turns.append(Turn(time.time(), what, writes, reads))

    def write(self, written: Sequence[Answer], read: Sequence[Answer], report: TrialReport) -> None:
        """Report what clients saw after each turn."""
        ends = [turn.at for turn in self.turns[1:]] + [float("inf")]
        for turn, end in zip(self.turns, ends, strict=True):
            report.lines.append(f"  {turn.what}")
            for kind, answers, allowed in (
                ("writes", written, turn.writes),
                ("reads", read, turn.reads),
            ):
                seen = [each for each in answers if turn.at <= each.ended < end]
                if not seen:
                    report.lines.append(f"    {kind:6} none has ended")
                    continue
                seconds = max((e.ended - turn.at for e in seen if not e.is_good), default=0.0)
                longest = max((each.ended - each.began for each in seen), default=0.0)
                report.lines.append(
                    f"    {kind:6} {count(each.status for each in seen)}; "
                    f"longest {longest:.1f} s; all good after {seconds:.1f} s"
                )
                failed = any(each.status not in GOOD for each in seen)
                report.check(allowed != 0 or not failed, f"{turn.what}: {kind} failed")
                if allowed is not None:
                    report.check_time(f"{turn.what}: {kind}", seconds, max(allowed, BACK))


def count(statuses: Iterable[int]) -> str:
    """How many responses had each status."""
    numbers = sorted(Counter(statuses).items())
    shown = (f"{number:,} × {status or 'none'}" for status, number in numbers)
    return ", ".join(shown) or "no response"


def burst(ways: Sequence[Way], client: Client, number: int) -> Counter[int]:
    """The statuses of so many requests of one account, at once over all ways."""

    def caller(way: Way) -> Counter[int]:
        answers = [way.get("/v1/account", client.authorization) for _ in range(number // CALLERS)]
        return Counter(answer.status for answer in answers)

    callers = [partial(caller, ways[place % len(ways)]) for place in range(CALLERS)]
    return sum(together(*callers), Counter())


def _was_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether the server closed a connection since its last response, as it may. Clients such as
    urllib3 look before they send."""
    return bool(connection.sock and select.select([connection.sock], [], [], 0)[0])


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True
