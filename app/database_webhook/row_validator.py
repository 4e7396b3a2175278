"""Validates the columns of a row as the fields of a request are validated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import marshmallow as ma

from app.api.resource_fields import input_field
from app.geometry import GeometryInvalid
from app.http.errors import Detail, ValidationFailed
from app.policy import kinds
from app.policy.fields import Field
from app.values.strict_json import JsonInvalid, loads

T = TypeVar("T")
_MOST_DETAILS: Final = 100
_TEXTS: Final = (kinds.TEXT, kinds.CHOICE, kinds.KEYWORD)


class RowValidator:
    """Reads columns one by one, and keeps what is wrong with any of them."""

    def __init__(self) -> None:
        self._details: list[Detail] = []

    def check(self, fields: Sequence[Field], row: Any) -> None:
        """The columns of all fields but those that hold GeoJSON."""
        for field in fields:
            value = getattr(row, field.stored_as)
            if field.kind in _TEXTS:
                self._check_text(field, value)
            elif field.kind is kinds.OBJECT:
                self.document(field.name, value, input_field(field, nullable=False).deserialize)

    def _check_text(self, field: Field, value: Any) -> None:
        """SQLite keeps bytes in any column."""
        if isinstance(value, bytes):
            self._details.append(Detail(field.name, "Must be text, not bytes."))
            return
        try:
            input_field(field).deserialize(value)
        except ma.ValidationError as error:
            self._details += [Detail(field.name, str(message)) for message in error.messages]

    def document(self, name: str, text: str | None, read: Callable[[Any], T]) -> T | None:
        """What ``read`` makes of a column that holds JSON; None of none."""
        if text is None:
            return None
        try:
            return read(loads(str(text).encode()))
        except GeometryInvalid as error:
            self._details += [Detail(each.field, each.message) for each in error.problems]
        except ma.ValidationError as error:
            self._details += [Detail(name, str(message)) for message in error.messages]
        except JsonInvalid as error:
            self._details.append(Detail(name, str(error).replace("The body", "The text", 1)))
        return None

    def finish(self) -> None:
        """Raises ValidationFailed with everything that was wrong, if anything was."""
        if self._details:
            raise ValidationFailed(
                "The row holds values that the API would reject. See details.",
                details=self._details[:_MOST_DETAILS],
            )
