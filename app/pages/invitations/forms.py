"""The form for accepting an invitation."""

from __future__ import annotations

from app.site.fields import name_field, new_password_field
from app.site.forms import PageForm


class JoinForm(PageForm):
    name = name_field("Your name", autocomplete="name")
    password = new_password_field("Password", "name")
