"""The fields of schemas that follow from the entries of ``app.policy.fields``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from marshmallow import fields

from app.api.fields import CountryCode, Geometry, Location
from app.policy import kinds
from app.policy.fields import Field
from app.policy.kinds import Kind
from app.values.fields import Choice, FixedText, QueryBoolean, QueryInteger, QueryNumber
from app.values.kind_fields import VALUES, MakeField, described, make_field, plain

_FIXED: Final = ("id", "slug", "project_id")

SchemaFields = dict[str, fields.Field[Any]]


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
    return make_field(_INPUT, field, required=required)


def _filter(field: Field) -> fields.Field[Any]:
    """Return the schema field that validates a value in a query string, or in the JSON arguments of
    a tool of the chat."""
    text = f"Only records with exactly this `{field.name}`."
    make = _IN_QUERY.get(field.kind) or _INPUT[field.kind]
    made = make(field, **described(field))
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
        made |= described(field)
    if field.kind is kinds.CHOICE and options.get("required"):
        return Choice(field.title, field.choices, **made)
    return _SHOWN.get(field.kind, fields.String)(**made)


def _query_integer(field: Field, **options: Any) -> QueryInteger:
    return QueryInteger(low=int(field.lowest), high=int(field.highest), **options)


def _query_number(field: Field, **options: Any) -> QueryNumber:
    return QueryNumber(low=field.lowest, high=field.highest, **options)


_INPUT: Final = VALUES | {
    kinds.BOUNDARY: plain(Geometry),
    kinds.POINT: plain(Location),
}
_IN_QUERY: Final[dict[Kind, MakeField]] = {
    kinds.COUNTRY: plain(CountryCode),
    kinds.INTEGER: _query_integer,
    kinds.NUMBER: _query_number,
    kinds.BOOLEAN: plain(QueryBoolean),
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
