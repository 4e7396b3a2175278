"""A client that does not send the rest of its request does not hold a thread for ever."""

from __future__ import annotations

import socket
import time

import pytest
from gunicorn.workers.gthread import ThreadWorker

from app.running.gunicorn_worker import ARRIVES_WITHIN, EnvelopeWorker


class Connection:
    """What gunicorn hands to a thread."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> EnvelopeWorker:
    monkeypatch.setattr(ThreadWorker, "murder_pending", lambda _: None)
    return EnvelopeWorker.__new__(EnvelopeWorker)


@pytest.mark.parametrize(("waited", "ends"), [(ARRIVES_WITHIN + 1, True), (1.0, False)])
def test_reading_ends_after_a_while(worker: EnvelopeWorker, waited: float, ends: bool) -> None:
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(0.2)
        worker._since = {Connection(here): time.monotonic() - waited}
        worker.murder_pending()
        if ends:
            assert here.recv(1) == b""
        else:
            with pytest.raises(TimeoutError):
                here.recv(1)


def test_a_connection_that_is_gone_does_no_harm(worker: EnvelopeWorker) -> None:
    gone = socket.socket()
    gone.close()
    worker._since = {Connection(gone): 0.0}
    worker.murder_pending()
