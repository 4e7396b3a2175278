"""The schema fields that validate values by their kind (``app.policy.kinds``), except geometries,
in bodies of /v1 and in cells of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import marshmallow as ma
from marshmallow import fields

from app.policy import kinds, request_limits
from app.policy.eudr import VERIFICATION
from app.policy.fields import Field
from app.policy.kinds import Kind, lower_case
from app.values.messages import NO_OBJECT, invalid
from app.values.schemas import (
    Choice,
    DateText,
    Line,
    StrictBoolean,
    StrictInteger,
    StrictNumber,
    Text,
)
from app.values.strict_json import dumps, is_within_levels
from app.values.text import has_control, json_with_line_feeds, may_have_control, word_problem

MakeField = Callable[..., fields.Field[Any]]  # called with a Field and options

_VERIFICATION: Final = re.compile(rf'"{VERIFICATION}\\*"\s*:', re.IGNORECASE)
_OPENS: Final = (
    f"Must not have the key {VERIFICATION}: the verification number opens a statement to everybody "
    "who reads it here. Leave it out; the reference number can be kept."
)
_CONTROLS: Final = "Must not contain control characters other than tabs and line feeds."


class Keyword(Line):
    """A word of an open vocabulary, such as the type of an asset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(shortest=1, longest=request_limits.VOCABULARY_LENGTH, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        word = super()._deserialize(value, attr, data, **options)
        if problem := word_problem(word):
            raise invalid(problem, "wrong_format")
        return word


class LowerCaseKeyword(Keyword):
    """A word that may have capitals."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        word = lower_case(value) if isinstance(value, str) else value
        return super()._deserialize(word, attr, data, **options)


class JsonObject(fields.Field[Any]):
    """A JSON object of the client, bounded in size, loaded as its compact text."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        size = {"maxProperties": request_limits.METADATA_KEYS, "additionalProperties": {}}
        shape = {"type": "object"} | size
        metadata = shape | options.pop("metadata", {})
        super().__init__(allow_none=allow_none, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        if not isinstance(value, dict):
            raise ma.ValidationError(NO_OBJECT)
        if len(value) > request_limits.METADATA_KEYS:
            raise invalid(f"Must have at most {request_limits.METADATA_KEYS} keys.", "too_many")
        if not is_within_levels(value, request_limits.METADATA_LEVELS):
            message = f"Must be nested at most {request_limits.METADATA_LEVELS} levels deep."
            raise invalid(message, "too_many")
        raw = dumps(value)
        if rb"\r" in raw:
            value = json_with_line_feeds(value)
            raw = dumps(value)
        if len(raw) > request_limits.METADATA_BYTES:
            message = f"Must be at most {request_limits.METADATA_BYTES:,} bytes as JSON."
            raise invalid(message, "too_large")
        text = raw.decode()
        if opens_statement(text):
            raise invalid(_OPENS, "invalid")
        if may_have_control(text) and has_control(value):
            raise ma.ValidationError(_CONTROLS)
        return text


def opens_statement(value: object) -> bool:
    """True if an object, an array or a text of JSON has the key of a verification number at any
    depth."""
    text = dumps(value).decode() if isinstance(value, dict | list) else value
    return isinstance(text, str) and _VERIFICATION.search(text) is not None


def value_field(field: Field) -> fields.Field[Any]:
    """Return the schema field that validates a value.

    Raises:
        KeyError: it is of another kind.
    """
    return make_field(VALUES, field)


def make_field(
    makers: Mapping[Kind, MakeField], field: Field, *, required: bool = False
) -> fields.Field[Any]:
    """Return the schema field of an entry, made by the maker of its kind.

    Raises:
        KeyError: there is none.
    """
    options: dict[str, Any] = {"required": required} | description_option(field)
    if field.nullable:
        options["allow_none"] = True
    return makers[field.kind](field, **options)


def description_option(field: Field) -> dict[str, Any]:
    """Return the option with the description of a field, if it has one."""
    return {"metadata": {"description": field.description}} if field.description else {}


def maker_of(field_class: type[fields.Field[Any]]) -> MakeField:
    """Return a maker of this class, for kinds without options."""

    def make(_: Field, **options: Any) -> fields.Field[Any]:
        return field_class(**options)

    return make


def _text_field(field: Field, **options: Any) -> Text:
    return (Text if field.is_long else Line)(
        shortest=field.shortest, longest=field.longest, **options
    )


def _choice_field(field: Field, **options: Any) -> Choice:
    return Choice(field.title, field.choices, **options)


def _json_object(field: Field, **options: Any) -> JsonObject:
    return JsonObject(data_key=field.name, attribute=field.stored_as, **options)


def _integer_field(field: Field, **options: Any) -> StrictInteger:
    return StrictInteger(low=int(field.lowest), high=int(field.highest), **options)


def _number_field(field: Field, **options: Any) -> StrictNumber:
    return StrictNumber(low=field.lowest, high=field.highest, **options)


VALUES: Final[dict[Kind, MakeField]] = {
    kinds.TEXT: _text_field,
    kinds.CHOICE: _choice_field,
    kinds.KEYWORD: maker_of(Keyword),
    kinds.INTEGER: _integer_field,
    kinds.NUMBER: _number_field,
    kinds.BOOLEAN: maker_of(StrictBoolean),
    kinds.DATE: maker_of(DateText),
    kinds.OBJECT: _json_object,
}
