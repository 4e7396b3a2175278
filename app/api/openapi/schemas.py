"""Schemas of responses, for the documentation only: they do not serialize."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Final

import marshmallow as ma
from marshmallow import fields

from app.policy.causes import CAUSES


class OutputSchema(ma.Schema):
    """The base of response schemas. A response has all fields but those in ``optional``."""

    optional: ClassVar[Collection[str]] = ()

    class Meta:
        unknown = ma.EXCLUDE

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        field_obj.required = field_name not in self.optional


_CODES: Final = " ".join(
    f"With {status}: {', '.join(f'`{code}`' for code in codes)}."
    for status, codes in CAUSES.items()
)


class ErrorDetailSchema(OutputSchema):
    """One problem of a field, parameter or header."""

    optional: ClassVar = ("id",)

    field = fields.String(
        metadata={
            "description": "Its name, or its path such as `geometry.coordinates`; empty for none."
        }
    )
    message = fields.String()
    code = fields.String(
        metadata={
            "description": f"The cause, of which there may be more later. {_CODES} With 400 and "
            "422 also a code of geometries or of files for the EUDR.",
            "examples": ["too_long"],
        }
    )
    id = fields.String(
        metadata={
            "description": "With 409: the id of the other resource, such as the project that has "
            "the slug, if the caller may see it."
        }
    )


class ErrorBodySchema(OutputSchema):
    """Why a request was rejected."""

    code = fields.String(
        metadata={
            "description": "The kind of error, such as `VALIDATION_ERROR`. Programs can rely on it."
        }
    )
    message = fields.String(
        metadata={"description": "What went wrong, for people. It may change at any time."}
    )
    details = fields.List(fields.Nested(ErrorDetailSchema))


class ErrorMetaSchema(OutputSchema):
    request_id = fields.String()


class ErrorSchema(OutputSchema):
    """The body of every error."""

    error = fields.Nested(ErrorBodySchema)
    meta = fields.Nested(ErrorMetaSchema)


class InvalidCredentialSchema(ErrorSchema):
    """The error for a credential that is not valid."""

    valid = fields.Boolean(metadata={"enum": [False]})


class SomeFields(fields.Nested):
    """A record of a list from which a client can select fields."""


def example_of(schema: type[ma.Schema]) -> Any:
    """The ``example`` of a schema, or None."""
    return getattr(schema, "example", None)


def content_type_of(schema: type[ma.Schema] | None) -> str | None:
    """The media type of a body that is not plain JSON, or None."""
    return getattr(schema, "content_type", None)


def is_tagged(schema: type[ma.Schema] | None) -> bool:
    """True if a response has an entity tag: it has ``data``, or is not plain JSON."""
    if schema is None:
        return False
    return "data" in schema._declared_fields or content_type_of(schema) is not None
