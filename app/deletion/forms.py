"""The forms that ask for the name of what is deleted for good."""

from __future__ import annotations

from wtforms import StringField, ValidationError
from wtforms.validators import InputRequired

from app.site.forms import PageForm
from app.values.text import fold

_AS_SHOWN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class DeletionForm(PageForm):
    """The name of what is deleted has to be typed.

    Attributes:
        expected: the name.
    """

    expected: str
    confirmation = StringField("", [InputRequired("Required.")], render_kw=_AS_SHOWN)

    def validate_confirmation(self, field: StringField) -> None:
        """Whether it was typed as it is shown."""
        if fold((field.data or "").strip()) != fold(self.expected):
            raise ValidationError(f"Type {self.expected} to confirm.")


def deletion_form(label: str, expected: str, *, sent: bool) -> DeletionForm:
    """The form, with the name to be typed.

    Args:
        sent: whether it takes what was sent with this request.
    """
    form = DeletionForm() if sent else DeletionForm(formdata=None)
    form.expected, form.confirmation.label.text = expected, label
    return form
