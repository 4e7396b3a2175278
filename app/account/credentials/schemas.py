"""Response schemas of /v1/auth/verify and /v1/me."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.api.openapi.schemas import OutputSchema
from app.policy.permissions import ROLES
from app.values.schemas import Choice


class VerificationSchema(OutputSchema):
    """The kind of a credential, and what it may do."""

    example: ClassVar = {
        "valid": True,
        "type": "api_key",
        "permissions": ["assets:read", "projects:read", "projects:write"],
        "account_id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "expires_at": None,
    }

    valid = fields.Boolean()
    type = Choice("CredentialKind", ("api_key", "oauth", "service_token"))
    permissions = fields.List(fields.String())
    account_id = fields.String()
    expires_at = fields.DateTime(allow_none=True)


class CallerAccountSchema(OutputSchema):
    id = fields.String()
    name = fields.String()
    slug = fields.String()


class CallerSchema(OutputSchema):
    """The caller. For an API key or a service token, `id`, `name`, `email` and `role`
    are null. OAuth applications see the name and email address only with the scope
    `profile`."""

    example: ClassVar = {
        "id": "user_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "name": "Jo Fields",
        "email": "jo@example.org",
        "role": "editor",
        "project_ids": None,
        "account": {
            "id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
            "name": "Umpqua Forest Watch",
            "slug": "umpqua-forest-watch",
        },
    }

    id = fields.String(allow_none=True)
    name = fields.String(allow_none=True)
    email = fields.String(allow_none=True)
    role = Choice("Role", tuple(ROLES), allow_none=True)
    project_ids = fields.List(
        fields.String(),
        allow_none=True,
        metadata={"description": "The projects that the credential is limited to; null: all."},
    )
    account = fields.Nested(CallerAccountSchema)
