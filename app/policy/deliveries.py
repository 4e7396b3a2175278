"""Deliveries of events to webhooks: retries, timeouts, limits, and why attempts fail."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

# From the end of a failed attempt to the next attempt; after the last of these there is none.
RETRY_AFTER: Final = tuple(timedelta(seconds=n) for n in (60, 300, 1_800, 7_200, 86_400))
ATTEMPTS: Final = len(RETRY_AFTER) + 1
RETRIES_LAST: Final = sum(RETRY_AFTER, timedelta())  # from the first failure to the final one

ATTEMPT_SECONDS: Final = 5.0  # wall clock: name, connection, TLS, sending, the response's status
RESPONSE_BYTES: Final = 64 * 1024  # of the body that are read and discarded
USER_AGENT: Final = "Canopy-Webhooks/1"

# A webhook without a success for this long is disabled. Admins get a mail a day before, and then.
WARNED_AFTER: Final = timedelta(days=4)
DISABLED_AFTER: Final = timedelta(days=5)

# Of one worker: requests in flight at once, in all, for one account and one webhook, and for all
# receivers of one health (app/webhooks/deliveries/webhook_queue.py), so that slow, new and failing
# receivers do not delay the others.
SENDERS: Final = 64
PER_ACCOUNT: Final = 32
PER_WEBHOOK: Final = 16
FOR_SLOW: Final = 32
FOR_UNKNOWN: Final = 32
FOR_FAILING: Final = 16
FAILING_AFTER: Final = 3  # failures in a row; a slow one is enough
SLOW_SECONDS: Final = 2.0
# Claimed deliveries in memory at once: of an account, of healthy receivers, and of all others.
QUEUED_PER_ACCOUNT: Final = 256
QUEUED: Final = 512
QUEUED_OF_OTHERS: Final = 256

LEASE: Final = timedelta(seconds=30)  # then another worker may claim the delivery
QUEUED_SECONDS: Final = 10.0  # after which a claimed delivery that has not begun is released
RUN_SECONDS: Final = 3_600.0  # the longest run of a job
LINGER_SECONDS: Final = 5.0  # a job waits for more after the last delivery
# The longest waits of a delivery before its first attempt and after each. Longer ones mean that the
# clock was set back.
LONGEST_WAITS: Final = (timedelta(seconds=60), *RETRY_AFTER)
SWEEP_SECONDS: Final = 15  # between two jobs without a wake signal

# Replayed events of an account in a second, in addition to new events; and the seconds for which
# they are queued at a time.
REPLAYED_PER_SECOND: Final = 50
REPLAYED_AT_ONCE: Final = 15  # seconds; also the interval of the job that queues them

# Milliseconds to which the durations of attempts are rounded up where they are counted, for charts:
# an hour of a webhook then has few rows.
LATENCY_STEPS: Final = (
    *(5, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700),
    *(1_000, 1_500, 2_000, 3_000, 4_000, 5_000),
)

WEBHOOKS_PER_ACCOUNT: Final = 50
URL_LENGTH: Final = 2_048
DESCRIPTION_LENGTH: Final = 500
SECRET_LENGTHS: Final = (16, 200)  # characters of a secret that the customer chooses
OVERLAP_HOURS_DEFAULT: Final = 24
OVERLAP_HOURS_MAX: Final = 168
LOG_DAYS: Final = 30


class FailureReason(StrEnum):
    """Why an attempt failed without a response, as the log shows it."""

    NOT_ALLOWED = "address not allowed"  # for a URL with an IP address
    # One reason for a name that does not resolve and for one that leads to a blocked address: two
    # would reveal which names exist in the operator's own network.
    NO_PUBLIC_ADDRESS = (
        "the host cannot be reached from here: its name does not resolve to a public address"
    )
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
    SLOW_RESPONSE = "timed out waiting for the response"
    CLOSED = "connection closed before the response"
    NOT_HTTP = "the response is not HTTP"
    BAD_URL = "the URL cannot be used"
