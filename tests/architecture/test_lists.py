"""Every list of a request has a bound, which is looked at before its elements."""

from __future__ import annotations

from collections.abc import Iterator

import marshmallow as ma
from marshmallow import fields

from app.values.schemas import BoundedList, InputSchema, PartialSchema, QuerySchema
from tests.api.operations import bare_app

OF_REQUESTS = (InputSchema, PartialSchema, QuerySchema)


def unbounded(schemas: tuple[type[ma.Schema], ...]) -> Iterator[str]:
    """The lists of these schemas, and of those below, that are read and have no bound."""
    for schema in schemas:
        for name, field in schema._declared_fields.items():
            is_list = isinstance(field, fields.List | fields.Tuple)
            if is_list and not (field.dump_only or isinstance(field, BoundedList)):
                yield f"{schema.__module__}.{schema.__name__}.{name}"
        yield from unbounded(tuple(schema.__subclasses__()))


def test_every_list_of_a_request_is_bounded() -> None:
    assert bare_app().blueprints  # all schemas are loaded
    assert list(unbounded(OF_REQUESTS)) == []


def test_a_list_without_a_bound_is_seen() -> None:
    class BeesSchema(ma.Schema):
        bees = fields.List(fields.String())
        wasps = BoundedList(fields.String(), longest=5)
        hornets = fields.List(fields.String(), dump_only=True)

    assert [name.rpartition(".")[2] for name in unbounded((BeesSchema,))] == ["bees"]
