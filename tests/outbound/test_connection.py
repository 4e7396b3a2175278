"""What TLS itself may take of an attempt, before a byte of an answer."""

from __future__ import annotations

import time

import pytest

from app.outbound import Egress, EgressError
from app.policy.deliveries import FailureReason
from tests.outbound.receivers import Receiver

SECONDS = 0.5
GIVEN_UP = 30.0  # seconds; who waits longer for what never comes has not given it up


def _reason(egress: Egress, url: str, seconds: float) -> FailureReason:
    """How a post fails, which it does in time."""
    begun = time.monotonic()
    with pytest.raises(EgressError) as failed:
        egress.post(url, b"{}", {}, seconds=seconds)
    assert seconds - 0.05 < time.monotonic() - begun < GIVEN_UP
    return failed.value.reason


@pytest.mark.slow
def test_session_tickets_until_the_deadline(egress: Egress, receiver: Receiver) -> None:
    """OpenSSL takes any number of them before it gives the reader a byte."""
    receiver.context.num_tickets = 10_000_000
    seconds, reason = SECONDS, FailureReason.SLOW_TLS
    while reason is FailureReason.SLOW_TLS and seconds < GIVEN_UP / 2:  # the machine is busy
        reason = _reason(egress, receiver.url(), seconds)
        seconds *= 2
    assert reason is FailureReason.SLOW_RESPONSE
    assert receiver.requests == []


def test_a_few_session_tickets(egress: Egress, receiver: Receiver) -> None:
    receiver.context.num_tickets = 200
    assert egress.post(receiver.url(), b"{}", {}).status == 200
