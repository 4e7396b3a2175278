"""The form that invites somebody."""

from __future__ import annotations

from wtforms import RadioField

from app.account.members.rules import INVITED_ROLES
from app.site.fields import email_field
from app.site.forms import PageForm


class InviteForm(PageForm):
    email = email_field(autocomplete="off")
    role = RadioField("Role", choices={role: role for role in INVITED_ROLES}, default="viewer")
