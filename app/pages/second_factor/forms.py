"""Forms of the second factor."""

from __future__ import annotations

from typing import Any

from wtforms import HiddenField, StringField, ValidationError
from wtforms.validators import InputRequired

from app.policy.second_factor import PASSKEY_NAME_LENGTH
from app.site.fields import trim
from app.site.forms import PageForm
from app.values.text import unstorable

_REQUIRED = "Required."


class AuthenticatorForm(PageForm):
    setup = HiddenField()
    code = StringField(
        "Code",
        [InputRequired(_REQUIRED)],
        filters=[trim],
        description="The six digits that the app shows.",
        render_kw={"inputmode": "numeric", "autocomplete": "one-time-code", "spellcheck": "false"},
    )


class PasskeyForm(PageForm):
    name = StringField(
        "Name of the passkey",
        [InputRequired(_REQUIRED)],
        filters=[trim],
        description="So that you recognize it, such as “Phone” or “Blue security key”.",
        render_kw={"autocomplete": "off", "maxlength": PASSKEY_NAME_LENGTH},
    )
    response = HiddenField()

    def validate_name(self, field: Any) -> None:
        """Raises ValidationError for a name that is too long or cannot be stored."""
        if not 1 <= len(field.data or "") <= PASSKEY_NAME_LENGTH:
            raise ValidationError(f"Must have 1 to {PASSKEY_NAME_LENGTH} characters.")
        if problem := unstorable(field.data):
            raise ValidationError(problem)
