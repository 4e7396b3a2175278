"""The columns that people write, judged as the fields of a request are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import marshmallow as ma
from marshmallow import fields

from app.geometry import GeometryInvalid
from app.http.errors import Detail, ValidationFailed
from app.values.strict_json import JsonInvalid, loads

T = TypeVar("T")
_MOST_DETAILS: Final = 100


class RowValidator:
    """Reads columns one by one, and keeps what is wrong with any of them."""

    def __init__(self) -> None:
        self._details: list[Detail] = []

    def value(self, name: str, field: fields.Field[Any], value: Any) -> Any:
        """What a field makes of a column. SQLite keeps bytes in any."""
        if isinstance(value, bytes):
            self._details.append(Detail(name, "Must be text, and is bytes."))
            return None
        try:
            return field.deserialize(value)
        except ma.ValidationError as error:
            self._details += [Detail(name, str(message)) for message in error.messages]
            return None

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
        """Raises ValidationFailed with all that was wrong, if anything was."""
        if self._details:
            raise ValidationFailed(
                "The row is not one that the service would keep; details names each column.",
                details=self._details[:_MOST_DETAILS],
            )
