"""The fields of schemas that follow from the entries of ``app.policy.fields``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from marshmallow import fields

from app.api.fields import Geometry, JsonObject, Keyword, Location
from app.policy.fields import Field
from app.values.fields import Choice, FixedText, Text

_FIXED: Final = ("id", "slug")

SchemaFields = dict[str, fields.Field[Any]]


def shown_fields(table: Sequence[Field]) -> SchemaFields:
    """Of the schema of the resource: all its fields, as they are read."""
    return {field.name: _shown(field, required=True) for field in table}


def create_fields(table: Sequence[Field]) -> SchemaFields:
    """Of the body that creates a resource: the fields that can be set, and those that are passed
    over, so that what was read can be sent back."""
    set_later = [field.name for field in table if field.writable == "on update"]
    made = {
        field.name: _shown(field, dump_only=True)
        if field.writable == "never"
        else input_field(field, required=field.required)
        for field in table
    }
    return {name: field for name, field in made.items() if name not in set_later}


def update_fields(table: Sequence[Field]) -> SchemaFields:
    """Likewise of the body that updates one."""
    return {field.name: _update_field(field) for field in table}


def filter_fields(table: Sequence[Field]) -> SchemaFields:
    """Of the query of a list: the fields that it can be filtered by."""
    return {field.name: _filter(field) for field in table if field.filter}


def input_field(
    field: Field, *, required: bool = False, nullable: bool | None = None
) -> fields.Field[Any]:
    """What validates a value of the field.

    Raises:
        KeyError: clients do not write fields of this kind.
    """
    options: dict[str, Any] = {"required": required} | _described(field)
    if field.nullable if nullable is None else nullable:
        options["allow_none"] = True
    if field.kind == "text":
        return Text(shortest=field.shortest, longest=field.longest, **options)
    if field.kind == "choice":
        return Choice(field.title, field.choices, **options)
    if field.kind == "object":
        return JsonObject(data_key=field.name, attribute=field.stored_as, **options)
    kinds: dict[str, type[fields.Field[Any]]] = {
        "keyword": Keyword,
        "boundary": Geometry,
        "point": Location,
    }
    return kinds[field.kind](**options)


def _filter(field: Field) -> fields.Field[Any]:
    made = input_field(field, nullable=False)
    text = f"Only records with exactly this `{field.name}`."
    made.metadata = {**made.metadata, "description": text}
    return made


def _update_field(field: Field) -> fields.Field[Any]:
    if field.name in _FIXED:
        return FixedText()
    return _shown(field, dump_only=True) if field.writable == "never" else input_field(field)


def _shown(field: Field, **options: bool) -> fields.Field[Any]:
    """A field as it is shown, or passed over where it cannot be set."""
    made: dict[str, Any] = options | ({"allow_none": True} if field.nullable else {})
    if options.get("required"):
        made |= _described(field)
    if field.kind == "choice" and options.get("required"):
        return Choice(field.title, field.choices, **made)
    kinds: dict[str, type[fields.Field[Any]]] = {
        "hectares": fields.Float,
        "time": fields.DateTime,
        "boundary": Geometry,
        "point": Location,
        "object": fields.Dict,
    }
    return kinds.get(field.kind, fields.String)(**made)


def _described(field: Field) -> dict[str, Any]:
    return {"metadata": {"description": field.description}} if field.description else {}
