"""A plugin of pytest: the application in this process has patience.

With the service's own times, what got no turn on a busy machine would be given up. Valkey would be
down after a quarter of a second: nothing would be counted, and no job be put on a queue. A fault of
a boundary would not be located after 5 ms. A test of these times uses the fixture ``impatient``.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

from app.boundaries import overlaps
from app.doctor.checks import valkey as doctor
from app.geometry import boundary
from app.jobs import valkey, valkey_client, wake_signals
from app.shapes import overlay

_LONG: Final = 30.0  # seconds
_TIMES: Final[tuple[tuple[ModuleType, str, Any], ...]] = (
    (valkey, "TIMEOUT_SECONDS", _LONG),
    (wake_signals, "TIMEOUT_SECONDS", _LONG),
    (doctor, "TIMEOUT_SECONDS", _LONG),
    (doctor, "WAITS_SECONDS", _LONG),
    (valkey_client, "SENTINEL_TIMEOUT", _LONG),
    (boundary, "_LOCATABLE", (_LONG, 0.0)),
    (boundary, "_SEARCH_SECONDS", (_LONG, _LONG)),
    (overlaps, "OVERLAPS_SECONDS", _LONG),
    (overlay, "_FAILED", 1_000),
)
_OWN: Final = [getattr(module, name) for module, name, _ in _TIMES]


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in _TIMES:
            patch.setattr(module, name, value)
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application has the service's own times."""
    for (module, name, _), value in zip(_TIMES, _OWN, strict=True):
        monkeypatch.setattr(module, name, value)
