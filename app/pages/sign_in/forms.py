"""Forms for signing up and signing in."""

from __future__ import annotations

from app.site.fields import (
    account_name_field,
    email_field,
    name_field,
    new_password_field,
    password_field,
    slug_field,
)
from app.site.forms import PageForm


class RegisterForm(PageForm):
    name = name_field("Your name", autocomplete="name")
    email = email_field(autocomplete="email")
    password = new_password_field("Password", "name", "email", "account_name")
    account_name = account_name_field()
    account_slug = slug_field("Short name")


class ConfirmForm(PageForm):
    password = password_field("The password you chose")


class LoginForm(PageForm):
    email = email_field()
    password = password_field()


class ForgotForm(PageForm):
    email = email_field()


class ResetForm(PageForm):
    password = new_password_field("New password")
