"""The query of a collection's features: parsing its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from flask import request
from marshmallow import fields, validate

from app.api.parsing import INVALID_QUERY, PARSER
from app.api.query_schemas import MetadataQuerySchema, ResourceId
from app.geometry.bounding_boxes import NUMBER
from app.geometry.shapes import CRS84, SYSTEMS, Crs, QueryShape, ShapeInvalid, read_box
from app.http.errors import BadRequest, Detail
from app.lists.cql.json import parse_json
from app.lists.cql.nodes import (
    Comparison,
    FilterInvalid,
    HasMetadata,
    IsImported,
    Node,
    Operator,
    ValueKind,
    conjunction,
)
from app.lists.cql.text import parse_text
from app.ogc.collections import Collection
from app.policy.ogc import FILTER_LENGTH, LIMIT_MAX
from app.policy.request_limits import DESCRIPTION_LENGTH
from app.values.messages import invalid
from app.values.schemas import QuerySchema, Text
from app.values.timestamps import TimestampInvalid, read_timestamp

FORMATS: Final = ("json", "html")
LANGUAGES: Final = {"cql2-text": parse_text, "cql2-json": parse_json}
_SYSTEMS: Final = {crs.uri: crs for crs in SYSTEMS}
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}T?", re.ASCII)
_REST_OF_DAY: Final = timedelta(days=1, microseconds=-1)
_MOMENT: Final = "updated_at"  # the property of `datetime`


class Query(NamedTuple):
    """The features, their number and their coordinate system. ``limit`` is None by default."""

    condition: Node | None
    box: QueryShape | None
    after: str | None
    limit: int | None
    crs: Crs


class _Limit(fields.Field[int]):
    """The most features of a page; too large a number means the maximum."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> int:
        digits = value.lstrip("0")
        if not re.fullmatch(r"[1-9][0-9]*", digits):
            raise invalid(f"Must be a whole number from 1 to {LIMIT_MAX:,}.", "wrong_format")
        return min(int(digits[:18]), LIMIT_MAX)


class _System(fields.Field[Crs]):
    """A coordinate system, by its URI."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> Crs:
        return system_of_uri(value)


class FormatSchema(QuerySchema):
    """The parameter that all resources have."""

    f = fields.String(validate=validate.OneOf(FORMATS))


class FeatureSchema(FormatSchema):
    """The parameters of a single feature."""

    crs = _System(load_default=CRS84)


class ItemsSchema(FeatureSchema, MetadataQuerySchema):
    """The parameters of the features of a collection, but for its properties."""

    import_id = ResourceId("import")
    limit = _Limit(load_default=None)
    cursor = fields.String(load_default=None, validate=validate.Length(max=100))
    bbox = fields.String(load_default=None, validate=validate.Length(max=300))
    bbox_crs = _System(data_key="bbox-crs", load_default=CRS84)
    datetime = fields.String(load_default=None, validate=validate.Length(max=100))
    filter = fields.String(load_default=None, validate=validate.Length(max=FILTER_LENGTH))
    filter_lang = fields.String(
        data_key="filter-lang", load_default="cql2-text", validate=validate.OneOf(list(LANGUAGES))
    )
    filter_crs = _System(data_key="filter-crs", load_default=CRS84)


def system_of_uri(uri: str) -> Crs:
    """The coordinate system of a URI. Raises ValidationError for one that is not offered."""
    crs = _SYSTEMS.get(uri)
    if crs is None:
        raise invalid(f"Must be one of: {', '.join(_SYSTEMS)}.", "not_one_of")
    return crs


def read_query(schema: type[QuerySchema]) -> dict[str, Any]:
    """The parameters of this request. Raises BadRequest."""
    values: dict[str, Any] = PARSER.parse(_schema_instance(schema), request, location="query")
    return values


@cache
def _schema_instance(schema: type[QuerySchema]) -> QuerySchema:
    return schema()


def read_items_query(collection: Collection) -> Query:
    """The query of this request for the features of a collection.

    Raises:
        BadRequest: a parameter is unknown or wrong.
    """
    values = read_query(_items_schema(collection))
    with _naming_parameter("bbox"):
        box = None if values["bbox"] is None else _box_shape(values["bbox"], values["bbox_crs"])
    with _naming_parameter("datetime"):
        interval = None if values["datetime"] is None else _interval_filter(values["datetime"])
    equal = [
        _equality_filter(name, kind, values[name])
        for name, kind in collection.parameters.items()
        if name in values
    ]
    with _naming_parameter("filter"):
        parse = LANGUAGES[values["filter_lang"]]
        text = values["filter"]
        filtered = (
            None if text is None else parse(text, collection.queryables, values["filter_crs"])
        )
    metadata = [HasMetadata(key, text) for key, text in values.get("metadata", {}).items()]
    imported = IsImported(values["import_id"]) if "import_id" in values else None
    condition = conjunction(interval, imported, *equal, *metadata, filtered)
    return Query(condition, box, values["cursor"], values["limit"], values["crs"])


@cache
def _items_schema(collection: Collection) -> type[QuerySchema]:
    texts: Mapping[str, Any] = {
        name: Text(longest=DESCRIPTION_LENGTH) for name in collection.parameters
    }
    schema: Any = ItemsSchema.from_dict(dict(texts), name=f"{collection.id}Items")
    return schema  # type: ignore[no-any-return]


@contextmanager
def _naming_parameter(parameter: str) -> Iterator[None]:
    """Turn an error in a parameter into a BadRequest that names it."""
    try:
        yield
    except (FilterInvalid, ShapeInvalid, TimestampInvalid) as error:
        raise parameter_error(parameter, str(error)) from None


def parameter_error(parameter: str, message: str) -> BadRequest:
    """The error for a wrong parameter."""
    detail = Detail(parameter, f"{message[:1].upper()}{message[1:]}", "wrong_format")
    return BadRequest(INVALID_QUERY, details=[detail])


def _box_shape(text: str, crs: Crs) -> QueryShape:
    words = text.split(",")
    for word in words:
        if not NUMBER.fullmatch(word.strip()):
            raise ShapeInvalid(f"A bbox is four numbers with commas; {word[:40]!r} is no number.")
    return read_box([float(word) for word in words], crs)


def _interval_filter(text: str) -> Node | None:
    """The filter of a moment, a day in UTC, or a closed or half-open interval (RFC 3339)."""
    start, slash, end = text.partition("/")
    if not slash and not _DAY.fullmatch(text):
        return Comparison(_MOMENT, "=", read_timestamp(text))
    ends: tuple[tuple[str, Operator], ...] = ((start, ">="), (end if slash else text, "<="))
    sides: list[Node] = [
        Comparison(_MOMENT, sign, _parse_end(word, sign))
        for word, sign in ends
        if word not in ("", "..")
    ]
    if not sides:
        raise TimestampInvalid("must have a start or an end, such as 2026-01-02T03:04:05Z/..")
    return conjunction(*sides)


def _parse_end(text: str, sign: Operator) -> datetime:
    """A time; of a day in UTC its start, or after ``<=`` its end. GDAL writes a day with a T."""
    if not _DAY.fullmatch(text):
        return read_timestamp(text)
    start = read_timestamp(f"{text[:10]}T00:00:00Z")
    return start + _REST_OF_DAY if sign == "<=" else start


def _equality_filter(name: str, kind: ValueKind, text: str) -> Node:
    """The filter of a parameter that is named like a property."""
    if kind == "text":
        return Comparison(name, "=", text)
    with _naming_parameter(name):
        if kind == "time":
            return Comparison(name, "=", read_timestamp(text))
        if kind == "boolean":
            if text not in ("true", "false"):
                raise FilterInvalid("Must be true or false.")
            return Comparison(name, "=", text == "true")
        if not NUMBER.fullmatch(text):
            raise FilterInvalid("Must be a number.")
    return Comparison(name, "=", float(text))
