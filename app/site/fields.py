"""Form fields, with the same validation rules as the API."""

from __future__ import annotations

from typing import Any

from flask_wtf import FlaskForm
from wtforms import PasswordField, StringField, ValidationError
from wtforms.validators import InputRequired

from app.policy.bounds import NAME_LENGTH, RESERVED_SLUGS
from app.policy.people import PASSWORD_LENGTH
from app.security.passwords import password_problem
from app.values.email import email_problem
from app.values.text import slugify, unstorable


def name_field(label: str, *, autocomplete: str, hint: str = "") -> StringField:
    """A name of 1 to NAME_LENGTH characters."""
    return StringField(
        label,
        [_required(), _check_name],
        filters=[trim],
        description=hint,
        render_kw={"autocomplete": autocomplete, "maxlength": NAME_LENGTH},
    )


def account_name_field() -> StringField:
    """The name of a new account."""
    return name_field(
        "Account name",
        autocomplete="organization",
        hint="Your organization or your forest.",
    )


def email_field(*, autocomplete: str = "username") -> StringField:
    """An email address."""
    return StringField(
        "Email",
        [_required(), _check_email],
        filters=[trim],
        render_kw={
            "type": "email",
            "autocomplete": autocomplete,
            "inputmode": "email",
            "spellcheck": "false",
        },
    )


def slug_field(label: str) -> StringField:
    """An optional slug."""
    return StringField(
        label,
        [_check_slug],
        filters=[trim],
        description="Used in addresses and commands, e.g. green-woods. Leave blank to derive it "
        "from the name.",
        render_kw={"autocomplete": "off", "spellcheck": "false", "maxlength": 63},
    )


def password_field(label: str = "Password") -> PasswordField:
    """An existing password."""
    return PasswordField(label, [_required()], render_kw={"autocomplete": "current-password"})


def new_password_field(label: str, *about: str) -> PasswordField:
    """A new password.

    Args:
        about: other fields of the form, whose values the password must not resemble.
    """
    shortest, longest = PASSWORD_LENGTH

    def check(form: FlaskForm, field: Any) -> None:
        known = [str(form[name].data or "") for name in about]
        if problem := password_problem(field.data or "", [*known, *getattr(form, "known", ())]):
            raise ValidationError(problem)

    return PasswordField(
        label,
        [_required(), check],
        description=f"{shortest} to {longest} characters. A few random words beat one word with "
        "symbols.",
        render_kw={"autocomplete": "new-password"},
    )


def _required() -> InputRequired:
    return InputRequired("Required.")


def trim(value: str | None) -> str | None:
    """A filter of fields: without spaces around."""
    return value.strip() if value else value


def _check_name(_: FlaskForm, field: Any) -> None:
    if not 1 <= len(field.data or "") <= NAME_LENGTH:
        raise ValidationError(f"Must have 1 to {NAME_LENGTH} characters.")
    if problem := unstorable(field.data):
        raise ValidationError(problem)


def _check_email(_: FlaskForm, field: Any) -> None:
    if problem := email_problem(field.data or ""):
        raise ValidationError(problem)


def _check_slug(_: FlaskForm, field: Any) -> None:
    if not field.data:
        return
    slug = slugify(field.data)
    if field.data in RESERVED_SLUGS:
        raise ValidationError("This word is reserved.")
    if slug != field.data:
        example = f", e.g. {slug}" if slug else ""
        raise ValidationError(f"Use lower-case letters, digits and hyphens{example}.")
