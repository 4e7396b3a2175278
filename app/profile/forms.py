"""Forms on a person's own pages."""

from __future__ import annotations

from flask_wtf import FlaskForm

from app.site.fields import (
    account_name_field,
    name_field,
    new_password_field,
    password_field,
    slug_field,
)


class NameForm(FlaskForm):  # type: ignore[misc]
    name = name_field("Your name", autocomplete="name")


class PasswordForm(FlaskForm):  # type: ignore[misc]
    password = password_field("Your password now")
    new_password = new_password_field("New password")


class AccountForm(FlaskForm):  # type: ignore[misc]
    account_name = account_name_field()
    account_slug = slug_field("Short name")
