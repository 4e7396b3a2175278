"""Schemas of the envelopes of responses, for the documentation only: they do not serialize."""

from __future__ import annotations

from functools import cache
from typing import Any

import marshmallow as ma
from marshmallow import fields

from app.api.openapi.schemas import OutputSchema, SomeFields, example_of
from app.policy import request_limits

_META = {"request_id": "req_01k9zq3mgt0y6f4c8vd2xw7sbn", "timestamp": "2026-01-02T03:04:05.690Z"}
_PAGE_META = {"total": 1, "page": 1, "per_page": 20, "total_pages": 1}


class MetaSchema(OutputSchema):
    request_id = fields.String()
    timestamp = fields.DateTime()


class PageMetaSchema(OutputSchema):
    total = fields.Integer(metadata={"minimum": 0})
    page = fields.Integer(metadata={"minimum": 1})
    per_page = fields.Integer(metadata={"minimum": 1, "maximum": request_limits.PER_PAGE_MAX})
    total_pages = fields.Integer(metadata={"minimum": 0})


class TotalMetaSchema(OutputSchema):
    total = fields.Integer(metadata={"minimum": 0})


@cache
def single_of(
    schema: type[ma.Schema], meta: type[ma.Schema] = MetaSchema, *, polled: bool = False
) -> type[ma.Schema]:
    """``{data: …, meta: {request_id, timestamp}}``.

    Args:
        meta: it may have more members.
        polled: a worker may be busy with the record, and ``Retry-After`` says when to look again.
    """
    members: dict[str, fields.Field[Any]] = {
        "data": fields.Nested(schema),
        "meta": fields.Nested(meta),
    }
    envelope = OutputSchema.from_dict(members, name=f"{_schema_stem(schema)}ResponseSchema")
    envelope.polled = polled  # type: ignore[attr-defined]
    return _with_example(envelope, example_of(schema), _META)


@cache
def page_of(schema: type[ma.Schema], *, some_fields: bool = False) -> type[ma.Schema]:
    """``{data: […], meta: {total, page, per_page, total_pages}}``.

    Args:
        some_fields: the query has the parameter ``fields``.
    """
    record = SomeFields if some_fields else fields.Nested
    members: dict[str, fields.Field[Any]] = {
        "data": fields.List(record(schema)),
        "meta": fields.Nested(PageMetaSchema),
    }
    envelope = OutputSchema.from_dict(members, name=f"{_schema_stem(schema)}PageSchema")
    envelope.paged = True  # type: ignore[attr-defined]
    return _with_example(envelope, [example_of(schema)], _PAGE_META)


@cache
def whole_of(schema: type[ma.Schema], meta: type[ma.Schema] = TotalMetaSchema) -> type[ma.Schema]:
    """``{data: […], meta: {total}}``; ``meta`` may have more members, with an example."""
    members: dict[str, fields.Field[Any]] = {
        "data": fields.List(fields.Nested(schema)),
        "meta": fields.Nested(meta),
    }
    envelope = OutputSchema.from_dict(members, name=f"{_schema_stem(schema)}ListSchema")
    return _with_example(envelope, [example_of(schema)], {"total": 1} | (example_of(meta) or {}))


def _with_example(schema: type[ma.Schema], data: Any, meta: dict[str, Any]) -> type[ma.Schema]:
    if data not in (None, [None]):
        schema.example = {"data": data, "meta": meta}  # type: ignore[attr-defined]
    return schema


def _schema_stem(schema: type[ma.Schema]) -> str:
    return schema.__name__.removesuffix("Schema")
