"""Forms for signing up and signing in."""

from __future__ import annotations

from marshmallow import fields

from app.site.fields import FormSchema, NewPassword, Slug
from app.values.schemas import Email, Name


class RegisterSchema(FormSchema):
    name = Name(required=True)
    email = Email(required=True)
    password = NewPassword("name", "email", "account_name")
    account_name = Name(required=True)
    account_slug = Slug()


class ConfirmSchema(FormSchema):
    password = fields.String(required=True)


class LoginSchema(FormSchema):
    email = Email(required=True)
    password = fields.String(required=True)


class ForgotSchema(FormSchema):
    email = Email(required=True)


class ResetSchema(FormSchema):
    password = NewPassword()
