"""Converting the schemas and fields of this service to JSON Schema."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter

from app.api.openapi.schemas import SomeFields
from app.values.schemas import Choice, ReadOnlyHere

_NULL: Final = {"type": "null"}


class Converter(OpenAPIConverter):
    """apispec's converter, which also knows ``Choice``, ``SomeFields`` and ``ReadOnlyHere``, and
    takes the description of a schema from its docstring."""

    def schema2jsonschema(self, schema: Any) -> dict[str, Any]:
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        kind = schema if isinstance(schema, type) else type(schema)
        if text := kind.__dict__.get("__doc__"):
            described["description"] = " ".join(text.replace("``", "`").split())
        return described

    def fields2jsonschema(self, fields: Any, *, partial: Any = None) -> dict[str, Any]:
        public = {name: f for name, f in fields.items() if not isinstance(f, ReadOnlyHere)}
        described: dict[str, Any] = super().fields2jsonschema(public, partial=partial)  # type: ignore[no-untyped-call]
        return described

    def field2property(self, field: ma.fields.Field[Any]) -> dict[str, Any]:
        described: dict[str, Any] = super().field2property(field)
        if isinstance(field, Choice) and field.title:
            return self._named_choice(field, described)
        return self._whole_or_parts(described) if isinstance(field, SomeFields) else described

    def _named_choice(self, field: Choice, described: dict[str, Any]) -> dict[str, Any]:
        """A reference to the schema of the words, beside null and the words of this field alone."""
        words = {"type": "string", "enum": list(field.words)}
        registered = self.spec.components.schemas.setdefault(field.title, words)
        if registered != words:
            raise ValueError(f"Two choices are called {field.title}, and have other words.")
        choices: list[dict[str, Any]] = [{"$ref": f"#/components/schemas/{field.title}"}]
        choices += [{"type": "string", "const": word} for word in field.besides]
        choices += [_NULL] if field.allow_none else []
        others = {name: value for name, value in described.items() if name not in ("type", "enum")}
        return others | (choices[0] if len(choices) == 1 else {"anyOf": choices})

    def _whole_or_parts(self, described: dict[str, Any]) -> dict[str, Any]:
        """A reference to the schema of a record, or to one in which only its id is required."""
        schemas, name = self.spec.components.schemas, described["$ref"].rpartition("/")[2]
        schemas[f"{name}Fields"] = schemas[name] | {
            "description": "The fields that you asked for with the parameter `fields`.",
            "required": ["id"],
        }
        return {"anyOf": [described, {"$ref": f"{described['$ref']}Fields"}]}


class Plugin(MarshmallowPlugin):
    """apispec's plugin, with this converter."""

    Converter = Converter
