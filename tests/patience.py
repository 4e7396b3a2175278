"""A plugin of pytest: the application in this process waits long for Valkey.

With the service's own times, a Valkey that got no turn on a busy machine for a quarter of a second
would be down: nothing would be counted, and no job be put on a queue. A test of these times uses
the fixture ``impatient``.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

from app.doctor.checks import valkey as doctor
from app.jobs import valkey, valkey_client, wake_signals

_TIMES: Final[tuple[tuple[ModuleType, str], ...]] = (
    (valkey, "TIMEOUT_SECONDS"),
    (wake_signals, "TIMEOUT_SECONDS"),
    (doctor, "TIMEOUT_SECONDS"),
    (valkey_client, "SENTINEL_TIMEOUT"),
)
_PATIENCE: Final = 30.0  # seconds
_OWN: Final = [getattr(module, name) for module, name in _TIMES]


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name in _TIMES:
            patch.setattr(module, name, _PATIENCE)
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application has the service's own times."""
    for (module, name), seconds in zip(_TIMES, _OWN, strict=True):
        monkeypatch.setattr(module, name, seconds)
