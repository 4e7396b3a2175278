"""How many projects an account has."""

from __future__ import annotations

from app.policy.bounds import PROJECT_STATUSES
from app.usage.counters import counters


def count_by_status(account_id: str) -> dict[str, int]:
    """The number of projects of each status."""
    counted = counters(account_id)
    return {status: int(getattr(counted, f"projects_{status}")) for status in PROJECT_STATUSES}
