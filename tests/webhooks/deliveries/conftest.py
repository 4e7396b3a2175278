"""A job that does not linger for long."""

import threading
from collections.abc import Callable

import pytest

from app.webhooks.deliveries.dispatcher import Dispatcher
from tests.waiting import wait_for

LingerFor = Callable[[float], None]


def wait_for_other_jobs() -> None:
    """Those of other tests go on listening for a moment after their end, and would take a signal
    that is for this one's."""
    wait_for(lambda: all(thread.name != "signals" for thread in threading.enumerate()))


@pytest.fixture
def linger_for(monkeypatch: pytest.MonkeyPatch) -> LingerFor:
    """Sets how many seconds the job waits for more after its last delivery."""

    def shorten(seconds: float) -> None:
        monkeypatch.setitem(Dispatcher.run.__kwdefaults__, "linger", seconds)

    return shorten
