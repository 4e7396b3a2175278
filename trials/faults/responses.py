"""What clients got while something failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from trials.faults.reconciliation import percentile

LOST = 0  # instead of a status: the connection was closed before the response


class Response(NamedTuple):
    """What a client got, and when, in seconds since the epoch. Without a response, the body is the
    error that the client met."""

    began: float
    ended: float
    status: int
    headers: Mapping[str, str] = {}  # names in lower case
    body: bytes = b""

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def __str__(self) -> str:
        return (
            f"{self.status} after {self.seconds:.2f} s: {self.body[:200].decode(errors='replace')}"
        )


def refused(responses: Iterable[Response]) -> list[Response]:
    """Those with 503."""
    return [response for response in responses if response.status == 503]


def describe(responses: Sequence[Response]) -> str:
    """How many had which status, and how long they took."""
    statuses = Counter(response.status for response in responses)
    shown = [f"{number:,} with {status}" for status, number in sorted(statuses.items()) if status]
    if statuses[LOST]:
        shown.append(f"{statuses[LOST]:,} without a response")
    seconds = [response.seconds for response in responses]
    p99, longest = percentile(seconds, 99) * 1000, max(seconds, default=0.0)
    return f"{', '.join(shown)}; p99 {p99:,.0f} ms, longest {longest:.2f} s"


def during(responses: Iterable[Response], since: float, until: float) -> list[Response]:
    """Those that began in a time, in seconds since the epoch."""
    return [response for response in responses if since <= response.began < until]
