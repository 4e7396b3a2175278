"""Variables of the guide on the reference page, from the policy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from flask import current_app

from app.api.openapi.components import REFUSALS
from app.limits.plan_file import plans
from app.policy import bounds, deliveries, limits, oauth
from app.policy.events import EVENTS
from app.policy.permissions import PERMISSIONS, SCOPES
from app.reference.curl import ADDRESS, curl


def guide() -> dict[str, Any]:
    """The variables of the templates of the guide."""
    return {
        "address": ADDRESS,
        "issuer": current_app.config["SETTINGS"].public_url,
        "errors": sorted(REFUSALS.values(), key=lambda kind: kind.status),
        "plans": plans(),
        "permissions": PERMISSIONS,
        "scopes": SCOPES,
        "events": EVENTS,
        "bounds": bounds,
        "deliveries": deliveries,
        "oauth": oauth,
        "limits": limits,
        "curl": curl,
        "duration": duration,
        "most_mebibytes": current_app.config["SETTINGS"].max_body_bytes / 2**20,
    }


def duration(time: timedelta) -> str:
    """Write a time in the largest unit that gives a whole number, such as ``5 minutes``."""
    seconds = int(time.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if seconds % length == 0:
            number = seconds // length
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    raise ValueError("a time of fractions of a second")
