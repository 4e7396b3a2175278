"""Request and response schemas of /v1/account."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.policy import request_limits
from app.values.schemas import Choice, FixedText, InputSchema, Name


class AccountUsageSchema(OutputSchema):
    """The current usage of the account."""

    hectares = fields.Float()
    projects = fields.Integer()
    members = fields.Integer()


class AccountSchema(OutputSchema):
    """The account that the credential belongs to."""

    example: ClassVar = {
        "id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "name": "Umpqua Forest Watch",
        "slug": "umpqua-forest-watch",
        "type": "organization",
        "plan": "pro",
        "usage": {"hectares": 35692.7657, "projects": 1, "members": 1},
        "created_at": "2026-01-02T03:04:05.678Z",
    }

    id = fields.String(required=True)
    name = fields.String(required=True)
    slug = fields.String(required=True)
    type = Choice("AccountKind", request_limits.ACCOUNT_TYPES, required=True)
    plan = fields.String(required=True)
    usage = fields.Nested(AccountUsageSchema, required=True)
    created_at = fields.DateTime(required=True)


class AccountUpdateSchema(InputSchema):
    """The account's name."""

    example: ClassVar = {"name": "Umpqua Forest Watch"}

    name = Name()
    id = FixedText()
    slug = FixedText()
    type = fields.String(dump_only=True)
    plan = fields.String(dump_only=True)
    usage = fields.Nested(AccountUsageSchema, dump_only=True)
    created_at = fields.DateTime(dump_only=True)


class PeriodSchema(OutputSchema):
    start = fields.DateTime()
    end = fields.DateTime()


class HectaresSchema(OutputSchema):
    current = fields.Float()
    limit = fields.Float(allow_none=True)
    percentage = fields.Float(allow_none=True)


class ProjectCountSchema(OutputSchema):
    active = fields.Integer()
    archived = fields.Integer()
    draft = fields.Integer(
        metadata={"description": "Their hectares count like an active project's."}
    )
    total = fields.Integer()


class CountSchema(OutputSchema):
    current = fields.Integer()
    limit = fields.Integer(allow_none=True)


class UsageSchema(OutputSchema):
    """The usage of the account in this calendar month (UTC), with the limits of its plan; null
    means no limit."""

    example: ClassVar = {
        "period": {"start": "2026-01-01T00:00:00.000Z", "end": "2026-02-01T00:00:00.000Z"},
        "hectares": {"current": 35692.7657, "limit": 50000, "percentage": 71.39},
        "projects": {"active": 1, "archived": 0, "draft": 0, "total": 1},
        "members": {"current": 1, "limit": 25},
        "api_requests": {"current": 2, "limit": 310000},
        "stored_bytes": {"current": 627, "limit": 2147483648},
        "history_bytes": {"current": 1128, "limit": 2147483648},
    }

    period = fields.Nested(PeriodSchema)
    hectares = fields.Nested(HectaresSchema)
    projects = fields.Nested(ProjectCountSchema)
    members = fields.Nested(CountSchema)
    api_requests = fields.Nested(CountSchema)
    stored_bytes = fields.Nested(CountSchema)
    history_bytes = fields.Nested(
        CountSchema,
        metadata={
            "description": "Bytes of events, audit log entries and deliveries. Nobody can delete "
            "them; they expire."
        },
    )
