"""The schema fields of resources, derived from ``app.policy.fields``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import marshmallow as ma
from marshmallow import fields

from app.api.expensive import expensive_work
from app.api.query_schemas import ResourceId
from app.geometry import GeometryInvalid, Problem, read_boundary, read_point
from app.policy import kinds
from app.policy.countries import COUNTRY_CODES
from app.policy.fields import Field, Filter, filters_of
from app.policy.kinds import Kind
from app.values.kind_schemas import (
    VALUES,
    LowerCaseKeyword,
    MakeField,
    description_option,
    make_field,
    maker_of,
)
from app.values.messages import CodedMessage, invalid
from app.values.schemas import (
    Choice,
    FixedText,
    QueryBoolean,
    QueryInteger,
    QueryNumber,
    Text,
    Timestamp,
)

_FIXED: Final = ("id", "slug", "project_id")

SchemaFields = dict[str, fields.Field[Any]]


class CountryCode(Text):
    """The code of a country in a query string."""

    def __init__(self, **options: Any) -> None:
        metadata = {"pattern": "^[A-Z]{2}$"} | options.pop("metadata", {})
        super().__init__(longest=2, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> str:
        code = super()._deserialize(value, attr, data, **options)
        if code not in COUNTRY_CODES:
            message = "Must be a country's code of ISO 3166-1 alpha-2 in capitals, such as DE."
            raise invalid(message, "not_one_of")
        return code


class Geometry(fields.Field[Any]):
    """A GeoJSON Polygon or MultiPolygon, as a ``Boundary``."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        shape = _one_of("Polygon", "MultiPolygon", allow_none=allow_none)
        metadata = shape | options.pop("metadata", {})
        super().__init__(allow_none=allow_none, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_boundary(value, expensive=expensive_work)
        except GeometryInvalid as error:
            raise ma.ValidationError(_by_member(error.problems)) from None


class Location(fields.Field[Any]):
    """A GeoJSON Point, as a ``Point``."""

    def __init__(self, *, allow_none: bool = False, **options: Any) -> None:
        shape = _one_of("Point", allow_none=allow_none)
        metadata = shape | options.pop("metadata", {})
        super().__init__(allow_none=allow_none, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Any:
        try:
            return read_point(value)
        except GeometryInvalid as error:
            raise ma.ValidationError(_by_member(error.problems)) from None


def shown_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of a resource in responses."""
    return {field.name: _output_field(field, required=True) for field in table}


def create_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of a body that creates a resource: those that can be set, and those that
    are ignored, so that a client can send back a record."""
    set_later = [field.name for field in table if field.writable == "on update"]
    schema_fields = {
        field.name: _output_field(field, dump_only=True)
        if field.writable == "never"
        else input_field(field, required=field.required)
        for field in table
    }
    return {name: field for name, field in schema_fields.items() if name not in set_later}


def update_fields(table: Sequence[Field]) -> SchemaFields:
    """Return the fields of a body that updates a resource, as for ``create_fields``."""
    return {field.name: _update_field(field) for field in table}


def filter_fields(table: tuple[Field, ...]) -> SchemaFields:
    """Return the schema fields of ``filters_of``, for query strings and the JSON of the chat."""
    return {name: _filter_schema_field(each) for name, each in filters_of(table).items()}


def input_field(field: Field, *, required: bool = False) -> fields.Field[Any]:
    """Return the schema field that validates a value in a body.

    Raises:
        KeyError: clients do not write fields of this kind.
    """
    return make_field(_INPUT, field, required=required)


def _filter_schema_field(chosen: Filter) -> fields.Field[Any]:
    field, text = chosen.field, _FILTER_TEXTS[chosen.sign].format(chosen.field.name)
    if chosen.sign == "has":
        return QueryBoolean(metadata={"description": text})
    if field.kind is kinds.TIME:
        text += " RFC 3339 with a time zone."
    schema_field = (_IN_QUERY.get(field.kind) or _INPUT[field.kind])(field)
    schema_field.metadata = {**schema_field.metadata, "description": text}
    return schema_field


def _update_field(field: Field) -> fields.Field[Any]:
    if field.name in _FIXED:
        return FixedText()
    return _output_field(field, dump_only=True) if field.writable == "never" else input_field(field)


def _output_field(field: Field, **options: bool) -> fields.Field[Any]:
    """Return a field of a response, or of a body that ignores it."""
    keywords: dict[str, Any] = options | ({"allow_none": True} if field.nullable else {})
    if options.get("required"):
        keywords |= description_option(field)
    if field.kind is kinds.CHOICE and options.get("required"):
        return Choice(field.title, field.choices, **keywords)
    return _OUTPUT.get(field.kind, fields.String)(**keywords)


def _query_integer(field: Field, **options: Any) -> QueryInteger:
    return QueryInteger(low=int(field.lowest), high=int(field.highest), **options)


def _query_id(field: Field, **options: Any) -> ResourceId:
    return ResourceId(field.name.removesuffix("_id"), **options)


def _query_number(field: Field, **options: Any) -> QueryNumber:
    high = min(field.highest, 2**53 / field.kind.factor)  # stored as a whole number
    return QueryNumber(low=field.lowest, high=high, **options)


def _one_of(*kinds: str, allow_none: bool) -> dict[str, Any]:
    """The JSON Schema of a field that holds one of these GeoJSON objects."""
    choices: list[dict[str, str]] = [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]
    return {"oneOf": choices + ([{"type": "null"}] if allow_none else [])}


def _by_member(problems: list[Problem]) -> dict[str, list[str]]:
    """The messages of problems, by the member of the object."""
    messages: dict[str, list[str]] = {}
    for problem in problems:
        member = problem.field.partition(".")[2] or "_schema"
        messages.setdefault(member, []).append(CodedMessage(problem.message, problem.code))
    return messages


_INPUT: Final = VALUES | {
    kinds.BOUNDARY: maker_of(Geometry),
    kinds.POINT: maker_of(Location),
}
_FILTER_TEXTS: Final = {
    "=": "Only records with exactly this `{}`.",
    ">=": "Only records whose `{}` is at least this.",
    "<=": "Only records whose `{}` is at most this.",
    "in": "Only records that this import has made or changed, also when the import is gone.",
    "has": "`true`: only records with a `{0}`; `false`: only those without.",
}
_IN_QUERY: Final[dict[Kind, MakeField]] = {
    kinds.ID: _query_id,
    kinds.COUNTRY: maker_of(CountryCode),
    kinds.KEYWORD: maker_of(LowerCaseKeyword),
    kinds.INTEGER: _query_integer,
    kinds.NUMBER: _query_number,
    kinds.HECTARES: _query_number,
    kinds.BOOLEAN: maker_of(QueryBoolean),
    kinds.TIME: maker_of(Timestamp),
}
_OUTPUT: Final[dict[Kind, type[fields.Field[Any]]]] = {
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
