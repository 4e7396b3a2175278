"""The form that invites somebody."""

from __future__ import annotations

from wtforms import SelectField
from wtforms.fields.choices import SelectChoice

from app.members.service import INVITED_ROLES
from app.site.fields import email_field
from app.site.forms import PageForm

_WORDS = {
    "viewer": "Viewer: sees everything, changes nothing",
    "editor": "Editor: changes projects and assets",
    "admin": "Admin: manages people and keys, too",
}


class InviteForm(PageForm):
    email = email_field(autocomplete="off")
    role = SelectField("Role", choices=[SelectChoice(name, _WORDS[name]) for name in INVITED_ROLES])
