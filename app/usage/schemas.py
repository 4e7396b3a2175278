"""Query and response schemas of usage."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, ClassVar, Final

import marshmallow as ma
from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.policy.request_limits import REQUEST_DAYS, REQUEST_DAYS_DEFAULT, REQUEST_DAYS_READ
from app.values import clock
from app.values.messages import invalid
from app.values.schemas import Choice, Day, QuerySchema

CALLER_KINDS: Final = ("api_key", "service_token", "oauth_application", "session")


class RequestsQuerySchema(QuerySchema):
    """The days (UTC), and the format of the response."""

    since = Day(metadata={"description": f"First day; by default of {REQUEST_DAYS_DEFAULT} days."})
    until = Day(metadata={"description": "Last day; by default today (UTC)."})
    format = fields.String(
        validate=validate.OneOf(("json", "csv")),
        load_default="json",
        metadata={"description": "Format of the response."},
    )

    @ma.post_load
    def _complete(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Fill in missing days.

        Raises:
            ValidationError: the last day is before the first, or there are too many.
        """
        until: date = data.setdefault("until", clock.now().date())
        if until.toordinal() < REQUEST_DAYS_READ:
            raise invalid("Must be a day of this service.", "too_small", "until")
        since = data.setdefault("since", until - timedelta(days=REQUEST_DAYS_DEFAULT - 1))
        if since > until:
            raise invalid("Must not be later than until.", "too_large", "since")
        if (until - since).days >= REQUEST_DAYS_READ:
            message = f"Must be at most {REQUEST_DAYS_READ} days, from since to until."
            raise invalid(message, "too_many", "since")
        return data


class DayRequestsSchema(OutputSchema):
    """The requests of one day (UTC)."""

    day = fields.Date()
    requests = fields.Integer()


class CallerRequestsSchema(OutputSchema):
    """The requests of one credential."""

    id = fields.String(
        metadata={
            "description": "The id of an API key, a service token or an OAuth application; "
            "`session` for signed-in people at `/ogc`."
        }
    )
    type = Choice("CallerKind", CALLER_KINDS)
    name = fields.String()
    requests = fields.Integer()
    by_day = fields.List(
        fields.Nested(DayRequestsSchema),
        metadata={"description": "Days without requests are left out."},
    )


class RequestsSchema(OutputSchema):
    """The API requests of the account, by day and by credential."""

    example: ClassVar = {
        "since": "2026-01-01",
        "until": "2026-01-02",
        "requests": 1204,
        "by_day": [
            {"day": "2026-01-01", "requests": 1200},
            {"day": "2026-01-02", "requests": 4},
        ],
        "by_credential": [
            {
                "id": "key_01k9zq1x5wkcz0e7h3vrm8t2aj",
                "type": "api_key",
                "name": "Nightly import",
                "requests": 1204,
                "by_day": [
                    {"day": "2026-01-01", "requests": 1200},
                    {"day": "2026-01-02", "requests": 4},
                ],
            }
        ],
    }

    since = fields.Date()
    until = fields.Date()
    requests = fields.Integer()
    by_day = fields.List(fields.Nested(DayRequestsSchema))
    by_credential = fields.List(
        fields.Nested(CallerRequestsSchema),
        metadata={
            "description": "The most active first, unused ones last. Known for "
            f"{REQUEST_DAYS} days: earlier requests are only in `by_day`."
        },
    )
