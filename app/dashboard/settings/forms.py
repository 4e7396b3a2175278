"""The form that renames an account."""

from __future__ import annotations

from app.site.fields import name_field
from app.site.forms import PageForm


class AccountNameForm(PageForm):
    name = name_field("Name", autocomplete="organization", hint="Members and applications see it.")
