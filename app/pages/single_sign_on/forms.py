"""Forms with which people consent to what comes of a sign-in at the provider."""

from __future__ import annotations

from app.site.fields import account_name_field, name_field, password_field, slug_field
from app.site.forms import PageForm
from app.site.pages import instance


class InvitedForm(PageForm):
    name = name_field("Your name", autocomplete="name")


class NewPersonForm(InvitedForm):
    account_name = account_name_field()
    account_slug = slug_field("Short name")


class LinkForm(PageForm):
    password = password_field()

    def __init__(self) -> None:
        super().__init__()
        self.password.label.text = f"Your {instance().name} password"
