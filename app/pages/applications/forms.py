"""The forms of an application that the account registers."""

from __future__ import annotations

from typing import Any, Final

from wtforms import (
    HiddenField,
    IntegerField,
    RadioField,
    SelectMultipleField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms.fields.choices import SelectChoice

from app.http.errors import ValidationFailed
from app.policy.bounds import NAME_LENGTH
from app.policy.deliveries import OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX
from app.policy.oauth import REDIRECT_URIS
from app.policy.permissions import SCOPES
from app.site.forms import PageForm

_WRONG_HOURS: Final = f"Must be a whole number of hours from 0 to {OVERLAP_HOURS_MAX}."
_KINDS: Final = {
    "secret": "Yes: it runs on a server of yours. It gets a client secret.",
    "public": "No: it runs on phones or computers, or in browsers, where anybody could read a "
    "secret. It gets none, and must use PKCE.",
}


class ApplicationForm(PageForm):
    """What can be changed later, too. It is validated by the service."""

    name = StringField(
        "Name",
        description="People see it when they are asked to allow access, with the account’s name.",
        render_kw={"autocomplete": "off", "maxlength": NAME_LENGTH, "dir": "auto"},
    )
    redirect_uris = TextAreaField(
        "Redirect URIs",
        description=f"Where people are sent back to: 1 to {REDIRECT_URIS}, one per line. A request "
        "must name one of them exactly. They begin with https://, or with a scheme of your own, "
        "such as com.example.app:/back. A program on a person’s own computer uses "
        "http://127.0.0.1/back, and may add any port in its requests.",
        render_kw={"rows": 3, "spellcheck": "false", "autocapitalize": "off"},
    )
    scopes = SelectMultipleField(
        "What may it ask for?",
        choices=[SelectChoice(name, words) for name, words in SCOPES.items()],
        validate_choice=False,
        description="People are shown each of these, and allow all or nothing. What an application "
        "may do is never more than their role allows.",
    )

    def uris(self) -> list[str]:
        """The redirect URIs, as they were typed."""
        lines = (line.strip() for line in (self.redirect_uris.data or "").splitlines())
        return [line for line in lines if line]

    def show(self, error: ValidationFailed) -> None:
        """Show what is wrong beside the fields that it is about."""
        for detail in error.details:
            if detail.field in self:
                field = self[detail.field]
                field.errors = [*field.errors, detail.message]
        if not self.scopes.data:
            self.scopes.errors = ["Choose at least one."]


class NewForm(ApplicationForm):
    kind = RadioField(
        "Can it keep a secret?",
        choices=[SelectChoice(name, words) for name, words in _KINDS.items()],
        default="secret",
    )


class ChangeForm(ApplicationForm):
    end_access = HiddenField()  # the scopes whose end somebody has agreed to


def _check_hours(_: PageForm, field: Any) -> None:
    if field.data is None or not 0 <= field.data <= OVERLAP_HOURS_MAX:
        field.errors = []  # this says it all
        raise ValidationError(_WRONG_HOURS)


class RotateForm(PageForm):
    overlap_hours = IntegerField(
        "Hours for which the present secret works too",
        [_check_hours],
        description="Enough to give the application the new one. 0 if the present one has leaked.",
        default=OVERLAP_HOURS_DEFAULT,
        render_kw={"inputmode": "numeric", "required": True},
    )
    mark = HiddenField()
