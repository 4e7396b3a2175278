"""Schemas and their fields for input: no coercion, no unknown names, only text that can be
stored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, ClassVar, NoReturn, TypeVar

import marshmallow as ma
from marshmallow import fields, validate

from app.policy.kinds import read_date
from app.policy.request_limits import NAME_LENGTH
from app.values.email import EMAIL_LENGTH, email_problem
from app.values.messages import CodedMessage, invalid, set_messages
from app.values.text import line_problem, normalization_problem, text_problem, with_line_feeds
from app.values.timestamps import TimestampInvalid, read_timestamp

set_messages()

T = TypeVar("T")


class Text(fields.String):
    """A trimmed string whose lines end in line feeds; text that cannot be stored or shown is
    invalid.

    Attributes:
        problem: returns the reason why a text is invalid, or None.
    """

    problem = staticmethod(text_problem)

    def __init__(self, *, longest: int, shortest: int = 0, **options: Any) -> None:
        self._limits = validate.Length(min=shortest or None, max=longest)
        pattern = {"pattern": r"\S"} if shortest else {}  # documented: spaces alone are empty
        metadata = pattern | options.pop("metadata", {})
        super().__init__(validate=self._limits, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        text = with_line_feeds(super()._deserialize(value, attr, data, **options)).strip()
        self._limits(text)  # first: other checks of a long text take long
        if problem := self.problem(text) or normalization_problem(text):
            raise ma.ValidationError(problem)
        return text


class Line(Text):
    """A text of one line with a visible character."""

    problem = staticmethod(line_problem)


class Name(Line):
    """The name of a person, an account or a resource."""

    def __init__(self, **options: Any) -> None:
        super().__init__(shortest=1, longest=NAME_LENGTH, **options)


class Email(Text):
    """An email address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(longest=EMAIL_LENGTH, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        text = super()._deserialize(value, attr, data, **options)
        if problem := email_problem(text):
            raise invalid(problem, "wrong_format")
        return text


class Choice(fields.String):
    """One of a few words, with a named schema in the description of the API."""

    def __init__(
        self, title: str, words: Sequence[str], *, besides: Sequence[str] = (), **options: Any
    ) -> None:
        """
        Args:
            title: the name of that schema; one name always has the same words.
            besides: other words that this field accepts.
        """
        super().__init__(validate=validate.OneOf((*words, *besides)), **options)
        self.title, self.words, self.besides = title, tuple(words), tuple(besides)


class BoundedList(fields.List[T]):
    """A list whose length is checked before its elements."""

    def __init__(
        self, inner: fields.Field[T], *, longest: int, shortest: int = 0, **options: Any
    ) -> None:
        bounds = f"{shortest:,} to {longest:,}" if shortest else f"at most {longest:,}"
        error = CodedMessage(f"Must have {bounds} elements.", "too_many", "too_short")
        self._limits = validate.Length(min=shortest or None, max=longest, error=error)
        super().__init__(inner, validate=self._limits, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> list[T | None]:
        if isinstance(value, list):
            self._limits(value)
        return super()._deserialize(value, attr, data, **options)


class StrictBoolean(fields.Boolean):
    """``true`` or ``false``, without conversion."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class StrictInteger(fields.Integer):
    """An integer in a body, written without a fraction or quotes."""

    def __init__(self, *, low: int, high: int, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=low, max=high), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class StrictNumber(fields.Float):
    """A number in a body, written without quotes."""

    def __init__(self, *, low: float, high: float, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=low, max=high), allow_nan=False, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> float:
        if type(value) not in (int, float):
            raise self.make_error("invalid", input=value)
        return float(value)


class DateText(fields.String):
    """The text of a date such as ``2026-01-31``."""

    def __init__(self, **options: Any) -> None:
        metadata = {"format": "date"} | options.pop("metadata", {})
        super().__init__(metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **options)
        try:
            return read_date(text)
        except ValueError as error:
            raise invalid(str(error), "wrong_format") from None


class Timestamp(fields.Field[datetime]):
    """An RFC 3339 timestamp with a zone, loaded as a time in UTC."""

    def __init__(self, **options: Any) -> None:
        shape = {"type": "string", "format": "date-time"}
        super().__init__(metadata=shape | options.pop("metadata", {}), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> datetime:
        try:
            return read_timestamp(value)
        except TimestampInvalid as error:
            message = str(error)
            code = "wrong_format" if isinstance(value, str) else "wrong_type"
            raise invalid(f"{message[0].upper()}{message[1:]}", code) from None


class Day(fields.Date):
    """A day in a query string such as ``2026-01-31``, and no other form of ISO 8601."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> date:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise invalid("Must be a day, such as 2026-01-31.", "wrong_format")
        return super()._deserialize(value, attr, data, **options)


class QueryInteger(fields.Integer):
    """An integer in a query string, in decimal digits, or in JSON."""

    def __init__(self, *, low: int, high: int, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=low, max=high), **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        if type(value) is not int and not re.fullmatch(r"-?[0-9]{1,18}", str(value)):
            raise self.make_error("invalid", input=value)
        return int(value)


class QueryNumber(StrictNumber):
    """A number in a query string, as JSON writes it, or in JSON."""

    def __init__(self, **options: Any) -> None:
        message = CodedMessage("Must be a number, such as 12.5.", "wrong_type")
        super().__init__(error_messages={"invalid": message}, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> float:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", value):
            value = float(value)
        return super()._deserialize(value, attr, data, **options)


class QueryBoolean(StrictBoolean):
    """``true`` or ``false`` in a query string, or in JSON."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> bool:
        if isinstance(value, str):
            value = {"true": True, "false": False}.get(value, value)
        return super()._deserialize(value, attr, data, **options)


class ReadOnlyHere(fields.Field[Any]):
    """A field of the resource that this request cannot set. The description of the API omits it.

    Args:
        reason: the error message.
    """

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> NoReturn:
        raise invalid(self.reason, "read_only")


class FixedText(fields.String):
    """A field of the resource that never changes. An update may contain its current value."""

    def __init__(self) -> None:
        super().__init__(allow_none=True, metadata={"readOnly": True})


class PartialSchema(ma.Schema):
    """An object of another service; fields that are not listed here are ignored."""

    @ma.pre_load
    def _pick(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        names = {field.data_key or name for name, field in self.fields.items()}
        return {name: data[name] for name in names & data.keys()}


class InputSchema(ma.Schema):
    """A body. Unknown names are errors. ``dump_only`` fields are ignored, so that a client can send
    back a record that it read.

    With ``may_be_absent``, an empty body means ``{}``.
    """

    may_be_absent: ClassVar[bool] = False

    class Meta:
        unknown = ma.RAISE

    @ma.pre_load
    def _drop_read_only(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        unknown = [name for name in data if name not in self.fields]
        if len(unknown) > 100:
            raise invalid(f"Has {len(unknown):,} unknown fields.", "unknown")
        return {name: value for name, value in data.items() if not self._is_read_only(name)}

    def _is_read_only(self, name: str) -> bool:
        return name in self.fields and self.fields[name].dump_only


class QuerySchema(ma.Schema):
    """A query string. The error for an unknown parameter names the known ones."""

    class Meta:
        unknown = ma.RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = sorted(field.data_key or name for name, field in self.fields.items())
        unknown_parameter = f"Unknown parameter. The parameters are: {', '.join(names)}."
        self.error_messages["unknown"] = CodedMessage(unknown_parameter, "unknown")
