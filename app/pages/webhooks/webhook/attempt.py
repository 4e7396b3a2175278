"""One attempt, as its page shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

_WIDTH: Final = 1000.0  # width of the drawing
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
    """A phase of an attempt, with the place of its bar. ``milliseconds`` is None without it."""

    key: str
    name: str
    milliseconds: int | None
    x: float
    width: float


def phases_of(timing: Mapping[str, int | None]) -> list[Phase]:
    """Return the phases of an attempt, with their places on a bar of ``_WIDTH``."""
    total = max(timing["total_ms"] or 0, sum(timing[key] or 0 for key in _PHASES), 1)
    phases, x = [], 0.0
    for key, name in _PHASES.items():
        milliseconds = timing[key]
        width = (milliseconds or 0) / total * _WIDTH
        phases.append(
            Phase(key.removesuffix("_ms"), name, milliseconds, round(x, 1), round(width, 1))
        )
        x += width
    return phases


def pretty_json(body: str) -> str:
    """Return a JSON text with indents."""
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)


def state_words(state: str | None) -> str:
    """Return the label for the state of a delivery."""
    return "no longer kept" if state is None else _STATES[state]
