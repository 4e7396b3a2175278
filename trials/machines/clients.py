"""What clients send and get while hosts fail, and the report about it."""

from __future__ import annotations

import http.client
import ssl
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.make import Client, together
from trials.faults.traffic import LOST, TIMEOUT, Response
from trials.report import Report

BACK = 10  # seconds until all is good again
SLOW = 3.0  # seconds; a response that takes longer is not a good one
CALLERS = 8  # of a burst
DOCUMENTED = frozenset({200, 201, 204, 409, 429, 503})
GOOD = frozenset({200, 201, 204})


@dataclass(frozen=True)
class Endpoint:
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

    def get(self, path: str, headers: dict[str, str] | None = None) -> Response:
        """One request on a connection of its own."""
        began, status, body = time.time(), LOST, b""
        connection = self.connect()
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            status, body = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        return Response(began, time.time(), status, body=body)


class Phase(NamedTuple):
    """What begins with something that happened. All must be good again after so many seconds; None:
    it need not; 0: nothing may fail, and what is slow must be over after ``BACK``."""

    at: float
    what: str
    writes: float | None
    reads: float | None


@dataclass
class Timeline:
    """The phases of a trial."""

    phases: list[Phase] = field(default_factory=list)

    def note(self, what: str, writes: float | None = BACK, reads: float | None = BACK) -> None:
        self.phases.append(Phase(time.time(), what, writes, reads))

    def write(self, written: Sequence[Response], read: Sequence[Response], report: Report) -> None:
        """Report what clients saw after each phase."""
        ends = [phase.at for phase in self.phases[1:]] + [float("inf")]
        for phase, end in zip(self.phases, ends, strict=True):
            report.lines.append(f"  {phase.what}")
            for kind, responses, allowed in (
                ("writes", written, phase.writes),
                ("reads", read, phase.reads),
            ):
                seen = [each for each in responses if phase.at <= each.ended < end]
                if not seen:
                    report.lines.append(f"    {kind:6} none has ended")
                    continue
                seconds = max((e.ended - phase.at for e in seen if not _is_good(e)), default=0.0)
                longest = max((each.seconds for each in seen), default=0.0)
                report.lines.append(
                    f"    {kind:6} {count(each.status for each in seen)}; "
                    f"longest {longest:.1f} s; all good after {seconds:.1f} s"
                )
                failed = any(each.status not in GOOD for each in seen)
                report.check(allowed != 0 or not failed, f"{phase.what}: {kind} failed")
                if allowed is not None:
                    report.check_time(f"{phase.what}: {kind}", seconds, max(allowed, BACK))


def count(statuses: Iterable[int]) -> str:
    """How many responses had each status."""
    numbers = sorted(Counter(statuses).items())
    shown = (f"{number:,} × {status or 'none'}" for status, number in numbers)
    return ", ".join(shown) or "no response"


def burst(endpoints: Sequence[Endpoint], client: Client, number: int) -> Counter[int]:
    """The statuses of so many requests of one account, at once over all endpoints."""

    def caller(endpoint: Endpoint) -> Counter[int]:
        requests = range(number // CALLERS)
        return Counter(endpoint.get("/v1/account", client.authorization).status for _ in requests)

    callers = [partial(caller, endpoints[place % len(endpoints)]) for place in range(CALLERS)]
    return sum(together(*callers), Counter())


def _is_good(response: Response) -> bool:
    return response.status in GOOD and response.seconds <= SLOW
