"""The form for accepting an invitation."""

from __future__ import annotations

from flask_wtf import FlaskForm

from app.site.fields import name_field, new_password_field


class JoinForm(FlaskForm):  # type: ignore[misc]
    name = name_field("Your name", autocomplete="name")
    password = new_password_field("Password", "name")
