"""The requests of an account as the API shows them."""

from __future__ import annotations

from typing import Any

from app.usage.requests import CallerRequests, Requests


def requests_record(found: Requests) -> dict[str, Any]:
    """The requests of a period, by day and by credential."""
    return {
        "since": found.days[0],
        "until": found.days[-1],
        "requests": found.total,
        "by_day": _days(found.days, found.by_day),
        "by_credential": [_caller(found.days, each) for each in found.callers],
    }


def _caller(days: list[str], each: CallerRequests) -> dict[str, Any]:
    made = [(day, number) for day, number in zip(days, each.by_day, strict=True) if number]
    return {
        "id": each.caller.id,
        "type": each.caller.kind,
        "name": each.caller.name,
        "requests": each.total,
        "by_day": [{"day": day, "requests": number} for day, number in made],
    }


def _days(days: list[str], numbers: list[int]) -> list[dict[str, Any]]:
    return [{"day": day, "requests": number} for day, number in zip(days, numbers, strict=True)]
