"""The same fixtures as for webhooks, and a job that does not linger for long."""

import threading
from collections.abc import Callable

import pytest

from app.webhooks.deliveries.dispatcher import Dispatcher
from tests.waiting import wait_for
from tests.webhooks.conftest import authority as authority
from tests.webhooks.conftest import certificate as certificate
from tests.webhooks.conftest import customer as customer
from tests.webhooks.conftest import deliver as deliver
from tests.webhooks.conftest import delivering as delivering
from tests.webhooks.conftest import delivering_app as delivering_app
from tests.webhooks.conftest import later as later
from tests.webhooks.conftest import make_receiver as make_receiver
from tests.webhooks.conftest import receiver as receiver

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
