"""The form that confirms the deletion of an account or a person."""

from __future__ import annotations

from wtforms import StringField, ValidationError
from wtforms.validators import InputRequired

from app.site.forms import PageForm
from app.values.text import fold, unnormalizable

_AS_SHOWN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class DeletionForm(PageForm):
    """Asks people to type what they delete.

    Args:
        expected: the short name of the account, or the address of the person.
    """

    confirmation = StringField("", [InputRequired("Required.")], render_kw=_AS_SHOWN)

    def __init__(self, expected: str) -> None:
        super().__init__()
        self._expected = expected
        self.confirmation.label.text = f"Type {expected} to confirm"

    def validate_confirmation(self, field: StringField) -> None:
        """Raises ValidationError unless it was typed as it is shown, in upper or lower case."""
        typed = (field.data or "").strip()
        if unnormalizable(typed) or fold(typed) != fold(self._expected):
            raise ValidationError(f"That is not {self._expected}.")
