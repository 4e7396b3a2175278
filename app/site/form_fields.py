"""The schema of forms, and fields that no resource of the API has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.policy.request_limits import RESERVED_SLUGS
from app.security.passwords import password_problem
from app.values.folding import fold_text
from app.values.schemas import Name
from app.values.text import normalization_problem, slugify


class FormSchema(ma.Schema):
    """The fields of a form. An empty one counts as missing.

    Attributes:
        guessable: texts about the person that a new password must not resemble.
    """

    guessable: Sequence[str] = ()


class NameSchema(FormSchema):
    name = Name(required=True)


class ConfirmationSchema(FormSchema):
    """The name of what is to be deleted, typed in upper or lower case: of an account the slug, of a
    person the address."""

    confirmation = fields.String(required=True)

    def __init__(self, expected: str) -> None:
        super().__init__()
        self._expected = expected

    @ma.validates("confirmation")
    def _check_confirmation(self, value: str, data_key: str) -> None:
        typed, expected = (" ".join(text.split()) for text in (value, self._expected))
        if normalization_problem(typed) or fold_text(typed) != fold_text(expected):
            raise ma.ValidationError(f"That is not {self._expected}.")


class Slug(fields.String):
    """The slug of a new account; if empty, it is derived from the name."""

    def __init__(self) -> None:
        super().__init__(load_default="")

    def _deserialize(self, value: str, attr: Any, data: Any, **options: Any) -> str:
        text = value.strip()
        slug = slugify(text)
        if text in RESERVED_SLUGS:
            raise ma.ValidationError("This word is reserved.")
        if slug != text:
            example = f", e.g. {slug}" if slug else ""
            raise ma.ValidationError(f"Use lower-case letters, digits and hyphens{example}.")
        return text


class AccountSchema(FormSchema):
    account_name = Name(required=True)
    account_slug = Slug()


class NewPassword(fields.String):
    """A new password, which must not resemble the texts of other fields."""

    def __init__(self, *others: str) -> None:
        super().__init__(required=True)
        self._others = others

    def _deserialize(
        self, value: str, attr: Any, data: Mapping[str, str] | None, **options: Any
    ) -> str:
        guessable = [(data or {}).get(name, "") for name in self._others]
        guessable += getattr(self.parent, "guessable", ())
        if problem := password_problem(value, guessable):
            raise ma.ValidationError(problem)
        return value


class WholeNumber(fields.Integer):
    """A whole number from ``low`` to ``high``; ``message`` is the error for any other text."""

    def __init__(self, low: int, high: int, message: str) -> None:
        super().__init__(required=True, validate=validate.Range(low, high, error=message))
        self.error_messages |= dict.fromkeys(("required", "invalid", "too_large"), message)
