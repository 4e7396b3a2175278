"""Forms of the second factor."""

from __future__ import annotations

from marshmallow import fields

from app.policy.second_factor import PASSKEY_NAME_LENGTH
from app.site.fields import FormSchema
from app.values.schemas import Line


class AuthenticatorSchema(FormSchema):
    code = fields.String(required=True)


class PasskeySchema(FormSchema):
    name = Line(shortest=1, longest=PASSKEY_NAME_LENGTH, required=True)
    response = fields.String(load_default="")
