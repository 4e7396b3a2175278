"""Rows of the tables of parameters and fields on the reference page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FieldRow:
    """The row for a parameter or a field of an object."""

    name: str
    type: str
    required: bool
    text: str


def field_rows(document: Schema, schema: Schema, *, is_request: bool = False) -> list[FieldRow]:
    """Return the rows for an object, or the objects of a list; for a request without read-only
    fields."""
    resolved = resolve_reference(document, schema)
    if "items" in resolved:
        resolved = resolve_reference(document, resolved["items"])
    if "anyOf" in resolved:  # a whole record, or its requested fields
        resolved = resolve_reference(document, resolved["anyOf"][0])
    required = resolved.get("required", [])
    return [
        _field_row(document, name, member, name in required)
        for name, member in resolved.get("properties", {}).items()
        if not (is_request and member.get("readOnly"))
    ]


def parameter_row(document: Schema, parameter: Schema) -> FieldRow:
    """Return the row for a parameter of a path, a query or a header."""
    schema = dict(parameter.get("schema", {}))
    if "description" in parameter:
        schema["description"] = parameter["description"]
    return _field_row(document, parameter["name"], schema, parameter.get("required", False))


def resolve_reference(document: Schema, node: Schema) -> Schema:
    """Follow the ``$ref`` of a node. A choice between one schema and null is that schema."""
    for key in ("allOf", "anyOf", "oneOf"):
        choices = [schema for schema in node.get(key, []) if schema.get("type") != "null"]
        if len(choices) == 1:
            return resolve_reference(document, choices[0])
    if "$ref" not in node:
        return node
    target: Any = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return resolve_reference(document, target)


def _field_row(document: Schema, name: str, schema: Schema, required: bool) -> FieldRow:
    resolved = resolve_reference(document, schema)
    notes = [schema.get("description") or resolved.get("description", "")]
    inner = resolve_reference(document, resolved["items"]) if "items" in resolved else resolved
    if words := _allowed_words(document, inner):
        notes.append("One of " + ", ".join(f"`{word}`" for word in words) + ".")
    notes.append(_range_text(resolved))
    if resolved.get("default") is not None:
        value = resolved["default"]
        notes.append(f"Default `{str(value).lower() if isinstance(value, bool) else value}`.")
    return FieldRow(
        name, _type_text(document, schema), required, " ".join(note for note in notes if note)
    )


def _allowed_words(document: Schema, schema: Schema) -> list[str]:
    """Return the allowed values of a choice."""
    if "const" in schema:
        return [str(schema["const"])]
    if "anyOf" in schema:
        choices = [resolve_reference(document, choice) for choice in schema["anyOf"]]
        return [word for choice in choices for word in _allowed_words(document, choice)]
    return [value for value in schema.get("enum", []) if isinstance(value, str)]


def _range_text(schema: Schema) -> str:
    if "maxLength" in schema:
        return f"{schema.get('minLength', 0)} to {schema['maxLength']:,} characters."
    if "maxItems" in schema:
        return f"{schema.get('minItems', 0)} to {schema['maxItems']:,} items."
    if "maxProperties" in schema:
        return f"Up to {schema['maxProperties']:,} keys."
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}."
    return ""


def _type_text(document: Schema, schema: Schema) -> str:
    """Return the type of a value in words, such as ``Polygon or null``."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kinds = [_type_text(document, choice) for choice in schema[key]]
            return " or ".join(dict.fromkeys(kinds))
    if "$ref" in schema:
        resolved = resolve_reference(document, schema)
        name: str = schema["$ref"].rpartition("/")[2]
        is_geojson = "coordinates" in resolved.get("properties", {})
        return name if is_geojson else _type_text(document, resolved)
    kinds = schema.get("type", "any JSON")
    names = kinds if isinstance(kinds, list) else [kinds]
    if "array" in names:
        inner = _type_text(document, schema.get("items", {}))
        inner += "s" if inner.isalpha() else ""
        names = [f"list of {inner}" if name == "array" else name for name in names]
    return " or ".join(
        str(schema.get("format", name)) if name == "string" else str(name) for name in names
    )
