"""Deliveries of events to webhooks: when they are tried, for how long, and why they fail."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

# After a failed attempt, counted from its end; the attempt after the last one is none.
RETRY_AFTER: Final = tuple(timedelta(seconds=n) for n in (60, 300, 1_800, 7_200, 86_400))
ATTEMPTS: Final = len(RETRY_AFTER) + 1

ATTEMPT_SECONDS: Final = 5.0  # wall clock: name, connection, TLS, sending, the answer's status
ANSWER_BYTES: Final = 64 * 1024  # of the answer's body, which are read and not kept
USER_AGENT: Final = "Canopy-Webhooks/1"

# A webhook without a success for so long is disabled; its admins are told a day before, and then.
WARNED_AFTER: Final = timedelta(days=4)
DISABLED_AFTER: Final = timedelta(days=5)

# Of one worker: how many requests are under way at once, in all and to whom. Receivers that answer
# slowly, that have not answered yet, and that failed lately, share a part of them each, so that the
# others go on whatever becomes of these.
SENDERS: Final = 64
PER_ACCOUNT: Final = 32
PER_WEBHOOK: Final = 16
FOR_SLOW: Final = 32
FOR_UNTRIED: Final = 32
FOR_SUSPECTS: Final = 16
SUSPECT_AFTER: Final = 3  # failures in a row; a slow one is enough
SLOW_SECONDS: Final = 2.0
# What it holds in memory at once: of an account, and of receivers that answer well, are slow, or
# neither.
HELD_PER_ACCOUNT: Final = 256
HELD: Final = 512
HELD_OF_OTHERS: Final = 256

CLAIMED_FOR: Final = timedelta(seconds=30)  # then another worker may take a delivery
HELD_SECONDS: Final = 10.0  # after which a claimed one that has not begun is given back
RUN_SECONDS: Final = 3_600.0  # of a job
LINGER_SECONDS: Final = 5.0  # that it waits for more after the last one
SWEEP_SECONDS: Final = 15  # between two looks of a job that nobody woke

# Events of the past that are sent again: so many a second to each webhook that asked for it, beside
# what happens now; queued for so many seconds at a time.
REPLAYED_PER_SECOND: Final = 50
REPLAYED_AT_ONCE: Final = 15  # seconds; the job that queues them runs as often

WEBHOOKS_PER_ACCOUNT: Final = 50
URL_LENGTH: Final = 2_048
DESCRIPTION_LENGTH: Final = 500
SECRET_LENGTHS: Final = (8, 200)  # characters of one that the customer chooses
OVERLAP_HOURS_DEFAULT: Final = 24
OVERLAP_HOURS_MAX: Final = 168
LOG_DAYS: Final = 30


class FailureReason(StrEnum):
    """Why an attempt failed before there was an answer, as the log says it."""

    NOT_ALLOWED = "address not allowed"
    UNKNOWN_NAME = "the name of the host cannot be resolved"
    SLOW_NAME = "timed out resolving the name of the host"
    SLOW_CONNECT = "timed out connecting"
    REFUSED = "connection refused"
    UNREACHABLE = "host cannot be reached"
    SLOW_TLS = "timed out in the TLS handshake"
    WRONG_NAME = "TLS certificate not valid for the name of the host"
    EXPIRED = "TLS certificate expired or not valid yet"
    UNTRUSTED = "TLS certificate not signed by a trusted authority"
    BAD_CERTIFICATE = "TLS certificate not valid"
    TLS = "TLS handshake failed"
    SLOW_ANSWER = "timed out waiting for the answer"
    CLOSED = "connection closed before the answer"
    NOT_HTTP = "the answer is not HTTP"
    BAD_URL = "the URL cannot be used"
