"""Variables of the guide on the reference page, from the policy."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import current_app

from app.api.openapi.components import REFUSALS
from app.limits.plan_file import plans
from app.policy import deliveries, oauth, rate_limits, request_limits
from app.policy.events import EVENTS
from app.policy.permissions import PERMISSIONS, SCOPES
from app.reference.curl import ADDRESS, curl
from app.values.clock import describe_duration


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
        "request_limits": request_limits,
        "deliveries": deliveries,
        "oauth": oauth,
        "rate_limits": rate_limits,
        "curl": curl,
        "duration": partial(describe_duration, day="1 day"),
        "most_mebibytes": current_app.config["SETTINGS"].max_body_bytes / 2**20,
    }
