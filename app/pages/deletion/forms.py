"""The form that confirms the deletion of an account or a person."""

from __future__ import annotations

import marshmallow as ma
from marshmallow import fields

from app.site.fields import FormSchema
from app.values.text import fold, normalization_problem


class DeletionSchema(FormSchema):
    """What is deleted, typed as the page shows it, in upper or lower case.

    Args:
        expected: the short name of the account, or the address of the person.
    """

    confirmation = fields.String(required=True)

    def __init__(self, expected: str) -> None:
        super().__init__()
        self._expected = expected

    @ma.validates("confirmation")
    def _check_confirmation(self, value: str, data_key: str) -> None:
        typed = value.strip()
        if normalization_problem(typed) or fold(typed) != fold(self._expected):
            raise ma.ValidationError(f"That is not {self._expected}.")
