"""Request and response schemas of /v1/account/members."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import fields

from app.account.members.rules import INVITED_ROLES
from app.api.openapi.schemas import OutputSchema
from app.policy.permissions import PERMISSIONS, ROLES, role_permissions
from app.values.schemas import Choice, Email, FixedText, InputSchema

_JOINED = {"description": "Null until the person accepts the invitation."}
_NAME = {"description": "Until the person joins, the part of the email address before the @."}


class MemberSchema(OutputSchema):
    """A person who belongs to the account or has been invited."""

    example: ClassVar = {
        "id": "user_01k9zqd5r8m2yqf6t0w3xjbv7c",
        "email": "jo@example.org",
        "name": "jo",
        "role": "editor",
        "permissions": role_permissions("editor"),
        "joined_at": None,
        "last_active_at": None,
    }

    id = fields.String()
    email = fields.String()
    name = fields.String(metadata=_NAME)
    role = Choice("Role", tuple(ROLES))
    permissions = fields.List(Choice("Permission", tuple(PERMISSIONS)))
    joined_at = fields.DateTime(allow_none=True, metadata=_JOINED)
    last_active_at = fields.DateTime(allow_none=True)


class MemberInputSchema(InputSchema):
    """The fields of a member that a client can send back, and cannot set."""

    id = fields.String(dump_only=True)
    name = fields.String(dump_only=True)
    permissions = fields.List(fields.String(), dump_only=True)
    joined_at = fields.DateTime(dump_only=True, allow_none=True)
    last_active_at = fields.DateTime(dump_only=True, allow_none=True)


class InvitationSchema(MemberInputSchema):
    """The person to invite, and the role to give."""

    example: ClassVar = {"email": "jo@example.org", "role": "editor"}

    email = Email(required=True)
    role = Choice("InvitedRole", INVITED_ROLES, required=True)


class MemberUpdateSchema(MemberInputSchema):
    """The role to give."""

    example: ClassVar = {"role": "editor"}

    id = FixedText()
    name = FixedText()
    email = fields.String(dump_only=True)
    role = Choice("Role", tuple(ROLES))
