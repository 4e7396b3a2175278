"""The fields of schemas that follow from the entries of ``app.policy.fields``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from marshmallow import fields

from app.api.fields import CountryCode, Geometry, JsonObject, Keyword, Location
from app.policy import kinds
from app.policy.fields import Field
from app.policy.kinds import Kind
from app.values.fields import (
    Choice,
    DateText,
    FixedText,
    Line,
    QueryBoolean,
    QueryInteger,
    QueryNumber,
    StrictBoolean,
    StrictInteger,
    StrictNumber,
    Text,
)

_FIXED: Final = ("id", "slug", "project_id")

SchemaFields = dict[str, fields.Field[Any]]
_Make = Callable[..., fields.Field[Any]]  # called with a Field and options


def shown_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of the schema of a resource, as they are read."""
    return {field.name: _shown(field, required=True) for field in table}


def create_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of a body that creates a resource: those that can be set, and those that
    are ignored, so that a client can send back what it read."""
    set_later = [field.name for field in table if field.writable == "on update"]
    made = {
        field.name: _shown(field, dump_only=True)
        if field.writable == "never"
        else input_field(field, required=field.required)
        for field in table
    }
    return {name: field for name, field in made.items() if name not in set_later}


def update_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of a body that updates a resource, as for ``create_fields``."""
    return {field.name: _update_field(field) for field in table}


def filter_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of the query of a list: those that it can be filtered by."""
    return {field.name: _filter(field) for field in table if field.filter}


def input_field(field: Field, *, required: bool = False) -> fields.Field[Any]:
    """Return the schema field that validates a value in a body.

    Raises:
        KeyError: clients do not write fields of this kind.
    """
    options: dict[str, Any] = {"required": required} | _described(field)
    if field.nullable:
        options["allow_none"] = True
    return _INPUT[field.kind](field, **options)


def _filter(field: Field) -> fields.Field[Any]:
    """Return the schema field that validates a value in a query string, or in the JSON arguments of
    a tool of the chat."""
    text = f"Only records with exactly this `{field.name}`."
    make = _IN_QUERY.get(field.kind) or _INPUT[field.kind]
    made = make(field, **_described(field))
    made.metadata = {**made.metadata, "description": text}
    return made


def _update_field(field: Field) -> fields.Field[Any]:
    if field.name in _FIXED:
        return FixedText()
    return _shown(field, dump_only=True) if field.writable == "never" else input_field(field)


def _shown(field: Field, **options: bool) -> fields.Field[Any]:
    """Return a field as it is read, or as it is ignored in a body that cannot set it."""
    made: dict[str, Any] = options | ({"allow_none": True} if field.nullable else {})
    if options.get("required"):
        made |= _described(field)
    if field.kind is kinds.CHOICE and options.get("required"):
        return Choice(field.title, field.choices, **made)
    return _SHOWN.get(field.kind, fields.String)(**made)


def _text(field: Field, **options: Any) -> Text:
    return (Text if field.is_long else Line)(
        shortest=field.shortest, longest=field.longest, **options
    )


def _choice(field: Field, **options: Any) -> Choice:
    return Choice(field.title, field.choices, **options)


def _keyword(field: Field, **options: Any) -> Keyword:
    return Keyword(field.choices, **options)


def _json_object(field: Field, **options: Any) -> JsonObject:
    return JsonObject(data_key=field.name, attribute=field.stored_as, **options)


def _integer(field: Field, **options: Any) -> StrictInteger:
    return StrictInteger(low=int(field.lowest), high=int(field.highest), **options)


def _query_integer(field: Field, **options: Any) -> QueryInteger:
    return QueryInteger(low=int(field.lowest), high=int(field.highest), **options)


def _number(field: Field, **options: Any) -> StrictNumber:
    return StrictNumber(low=field.lowest, high=field.highest, **options)


def _query_number(field: Field, **options: Any) -> QueryNumber:
    return QueryNumber(low=field.lowest, high=field.highest, **options)


def _plain(field_class: type[fields.Field[Any]]) -> _Make:
    def make(_: Field, **options: Any) -> fields.Field[Any]:
        return field_class(**options)

    return make


_INPUT: Final[dict[Kind, _Make]] = {
    kinds.TEXT: _text,
    kinds.CHOICE: _choice,
    kinds.KEYWORD: _keyword,
    kinds.INTEGER: _integer,
    kinds.NUMBER: _number,
    kinds.BOOLEAN: _plain(StrictBoolean),
    kinds.DATE: _plain(DateText),
    kinds.BOUNDARY: _plain(Geometry),
    kinds.POINT: _plain(Location),
    kinds.OBJECT: _json_object,
}
_IN_QUERY: Final[dict[Kind, _Make]] = {
    kinds.COUNTRY: _plain(CountryCode),
    kinds.INTEGER: _query_integer,
    kinds.NUMBER: _query_number,
    kinds.BOOLEAN: _plain(QueryBoolean),
}
_SHOWN: Final[dict[Kind, type[fields.Field[Any]]]] = {
    kinds.INTEGER: fields.Integer,
    kinds.NUMBER: fields.Float,
    kinds.BOOLEAN: fields.Boolean,
    kinds.DATE: fields.Date,
    kinds.HECTARES: fields.Float,
    kinds.TIME: fields.DateTime,
    kinds.BOUNDARY: Geometry,
    kinds.POINT: Location,
    kinds.OBJECT: fields.Dict,
}


def _described(field: Field) -> dict[str, Any]:
    return {"metadata": {"description": field.description}} if field.description else {}
