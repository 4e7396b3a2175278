"""The bodies of changes: GeoJSON Features with flat properties, as the fields of ``/v1``.

A property with the name of a field is that field; all others are keys of the metadata. In a new
feature, and in one that replaces another, null properties are ignored: programs that draw maps send
null for each empty column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, Final

import marshmallow as ma
from flask import request

from app.api.parsing import PARSER
from app.api.resource_schemas import create_fields, input_field, update_fields
from app.formats.writers.features import METADATA
from app.geometry.members import is_wgs84
from app.geometry.shapes import CRS84, Crs, to_degrees
from app.http.errors import BadRequest, Detail, ValidationFailed
from app.ogc.collections import Collection
from app.ogc.features import as_stored
from app.ogc.parameters import system_of_uri
from app.policy.fields import Field
from app.policy.kinds import KEYWORD, lower_case
from app.values.messages import NO_OBJECT, CodedMessage
from app.values.schemas import InputSchema, ReadOnlyHere

_MEMBERS: Final = frozenset({"type", "id", "geometry", "properties", "links", "bbox", "crs"})
_PATCH: Final = "metadata_patch"
_NEW_STATUS: Final = "A new project is active. Leave `status` out, and change it afterwards."


class FeatureBody(InputSchema):
    """The fields of a resource, loaded from a Feature."""

    collection: ClassVar[Collection]
    is_patch: ClassVar[bool] = False
    is_new: ClassVar[bool] = False

    def load(self, data: Any, **options: Any) -> Any:
        values: dict[str, Any] = super().load(self._values(data), **options)
        return values

    def _values(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a Feature, by name."""
        problems = _member_problems(data, self.is_patch)
        properties = data.get("properties")
        if properties is not None and not isinstance(properties, dict):
            problems["properties"] = [NO_OBJECT]
        if problems:
            raise ma.ValidationError(problems)
        values = self._fields(properties or {})
        if "geometry" in data:
            geometry = as_stored(to_degrees(data["geometry"], content_crs()))
            values[self.collection.type.geometry.name] = geometry
        return values

    def _fields(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        own = {field.name: field.kind for field in self.collection.type.property_fields}
        keys, values, unknown = dict[str, Any](), dict[str, Any](), list[str]()
        for name, value in properties.items():
            if value is None and not self.is_patch:
                continue
            if name in own:
                is_word = own[name] is KEYWORD and isinstance(value, str)
                values[name] = lower_case(value) if is_word else value
            elif (key := self.collection.type.metadata_key(name)) is not None:
                keys[key] = value
            else:
                unknown.append(name)
        if unknown:
            text = "Is no property. Send the keys of metadata as properties of their own."
            message = CodedMessage(text, "unknown")
            raise ma.ValidationError({"properties": {name: [message] for name in unknown}})
        if self.is_new and values.get("status") == "active":
            del values["status"]
        if keys:
            values[_PATCH if self.is_patch else METADATA] = keys
        elif not self.is_patch and not self.is_new:
            values[METADATA] = None
        return self._emptied_fields() | values if not (self.is_patch or self.is_new) else values

    def _emptied_fields(self) -> dict[str, Any]:
        """The fields that a replacement empties if it does not contain them."""
        fields = self.collection.type.property_fields
        return {f.name: None for f in fields if f.nullable and f.writable == "always"}


def read_new(collection: Collection) -> dict[str, Any]:
    """The fields of a new feature by column, with an asset's ``project_id``.

    Raises:
        BadRequest: the body cannot be read.
        ValidationFailed: it is no Feature, or a property is wrong.
    """
    return _read_feature_body(collection, _body_schema(collection, "new"))


def read_replacement(collection: Collection) -> dict[str, Any]:
    """All fields that a change can set, by column. Raises as ``read_new``."""
    return _read_feature_body(collection, _body_schema(collection, "replacement"))


def read_patch(collection: Collection) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (fields to change by column, patch of the metadata (RFC 7396)). Raises as
    ``read_new``."""
    values = _read_feature_body(collection, _body_schema(collection, "patch"))
    return values, values.pop(_PATCH, {})


def content_crs() -> Crs:
    """The coordinate system of the geometries in the body. Raises BadRequest."""
    header = request.headers.get("Content-Crs")
    if header is None:
        return CRS84
    try:
        return system_of_uri(header.strip().removeprefix("<").removesuffix(">"))
    except ma.ValidationError as error:
        message = str(error.messages[0])
        detail = Detail("Content-Crs", message, "not_one_of")
        raise BadRequest("The header Content-Crs is not valid.", details=[detail]) from None


def _read_feature_body(collection: Collection, schema: type[FeatureBody]) -> dict[str, Any]:
    content_crs()
    try:
        values: dict[str, Any] = PARSER.parse(schema(), request, location="json")
    except ValidationFailed as error:
        details = [_with_path(collection, detail) for detail in error.details]
        raise ValidationFailed(details=details) from None
    return values


def _with_path(collection: Collection, detail: Detail) -> Detail:
    """The error of a field with its path in the Feature."""
    name, dot, rest = detail.field.partition(".")
    if name == collection.type.geometry.name:
        return replace(detail, field=f"geometry{dot}{rest}")
    if name in _MEMBERS | {"body"}:
        return detail
    if name in (METADATA, _PATCH):
        return replace(detail, field="properties")
    return replace(detail, field=f"properties.{detail.field}")


def _member_problems(data: Mapping[str, Any], is_patch: bool) -> dict[str, list[CodedMessage]]:
    """The errors in the members of a Feature."""
    unknown = CodedMessage("A Feature has no such member.", "unknown")
    problems = {name: [unknown] for name in data if name not in _MEMBERS}
    if data.get("type", "Feature" if is_patch else None) != "Feature":
        problems["type"] = [CodedMessage("Must be a GeoJSON Feature.", "not_one_of")]
    if not is_patch and "geometry" not in data:
        problems["geometry"] = [CodedMessage("Required; null for none.", "required")]
    if "crs" in data and not is_wgs84(data["crs"]):
        message = "Leave it out, and name another system than CRS84 in Content-Crs."
        problems["crs"] = [CodedMessage(message, "wrong_crs")]
    return problems


@cache
def _body_schema(collection: Collection, purpose: str) -> type[FeatureBody]:
    table = collection.type.fields
    body: Any
    if purpose == "new":
        body = FeatureBody.from_dict({**create_fields(table), **_only_new(table)}, name="New")
    else:
        fields = update_fields(table)
        if purpose == "replacement":
            fields |= {f.name: input_field(f, required=True) for f in table if f.required}
        else:
            fields[_PATCH] = ma.fields.Dict()
        if "project_id" in fields:
            fields["project_id"] = ma.fields.String()  # must stay the same
        body = FeatureBody.from_dict(fields, name=purpose.title())
    body.collection, body.is_new = collection, purpose == "new"
    body.is_patch = purpose == "patch"
    return body  # type: ignore[no-any-return]


def _only_new(table: Iterable[Field]) -> dict[str, Any]:
    """The fields that differ in a new feature: an asset's project, a project's status."""
    names = {field.name: field for field in table}
    if "project_id" in names:
        return {"project_id": ma.fields.String(required=True)}
    return {"status": ReadOnlyHere(_NEW_STATUS)}
