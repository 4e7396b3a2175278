"""Response schema of /v1/auth/verify."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields, validate

from app.api.schemas import OutputSchema


class VerificationSchema(OutputSchema):
    """What a credential is and may do."""

    example: ClassVar = {
        "valid": True,
        "type": "api_key",
        "permissions": ["assets:read", "projects:write"],
        "account_id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "expires_at": None,
    }

    valid = fields.Boolean(required=True)
    type = fields.String(
        required=True, validate=validate.OneOf(("api_key", "oauth", "service_token"))
    )
    permissions = fields.List(fields.String(), required=True)
    account_id = fields.String(required=True)
    expires_at = fields.DateTime(required=True, allow_none=True)
