"""One attempt, as its page shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

_WIDTH: Final = 1000.0  # of the drawing
_PHASES: Final = {
    "resolve_ms": "Looking up the name",
    "connect_ms": "Connecting",
    "tls_ms": "TLS handshake",
    "wait_ms": "Waiting for the response",
}
_STATES: Final = {
    "pending": "pending",
    "succeeded": "delivered",
    "failed": "failed for good",
    "canceled": "canceled",
}


class Phase(NamedTuple):
    """A step of an attempt: its bar, and its milliseconds; None where it was not reached or not
    needed."""

    key: str
    name: str
    milliseconds: int | None
    x: float
    width: float


def phases_of(timing: Mapping[str, int | None]) -> list[Phase]:
    """The steps of an attempt, one after the other, on a bar as wide as all of it took."""
    total = max(timing["total_ms"] or 0, sum(timing[key] or 0 for key in _PHASES), 1)
    found, x = [], 0.0
    for key, name in _PHASES.items():
        milliseconds = timing[key]
        width = (milliseconds or 0) / total * _WIDTH
        found.append(
            Phase(key.removesuffix("_ms"), name, milliseconds, round(x, 1), round(width, 1))
        )
        x += width
    return found


def pretty(body: str) -> str:
    """A JSON text with a line for each value."""
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)


def state_words(state: str | None) -> str:
    """The state of a delivery in a few words."""
    return "no longer kept" if state is None else _STATES[state]
