"""Forms on a person's own pages."""

from __future__ import annotations

from app.site.fields import (
    account_name_field,
    name_field,
    new_password_field,
    password_field,
    slug_field,
)
from app.site.forms import PageForm


class NameForm(PageForm):
    name = name_field("Your name", autocomplete="name")


class PasswordForm(PageForm):
    password = password_field("Current password")
    new_password = new_password_field("New password")


class AccountForm(PageForm):
    account_name = account_name_field()
    account_slug = slug_field("Short name")
