"""What follows from a failed attempt."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.deliveries.outcomes import retry_of
from app.deliveries.sender_pool import status_error
from tests.deliveries.makers import MOMENT, claimed, outcome


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 60), (2, 300), (3, 1_800), (4, 7_200), (5, 86_400)]
)
@pytest.mark.parametrize("cause", ["event", "test", "replay"])
def test_a_retry_follows_the_schedule(attempt: int, seconds: int, cause: str) -> None:
    failed = outcome(claimed("a", attempt=attempt, cause=cause), error="refused", seconds=2)
    _, state, due_at = retry_of(failed)
    assert (state, due_at) == ("pending", MOMENT + timedelta(seconds=2 + seconds))


@pytest.mark.parametrize(
    ("attempt", "cause", "status"),
    [(6, "event", 500), (7, "event", 500), (1, "redelivery", 500), (1, "event", 410)],
)
def test_no_retry(attempt: int, cause: str, status: int) -> None:
    failed = outcome(claimed("a", attempt=attempt, cause=cause), error="answered")
    _, state, due_at = retry_of(failed._replace(status=status))
    assert (state, due_at) == ("failed", None)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, None),
        (204, None),
        (299, None),
        (302, "answered 302; redirects are not followed"),
        (400, "answered 400"),
        (410, "answered 410; the webhook is disabled"),
        (500, "answered 500"),
        (101, "answered 101"),
    ],
)
def test_the_error_for_a_status(status: int, error: str | None) -> None:
    assert status_error(status) == error
