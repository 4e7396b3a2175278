"""Fields that the reported columns of a row make, by the kinds of ``app.policy.fields``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from app.api.resource_fields import input_field
from app.database_webhook.change import Columns, texts, times
from app.database_webhook.row_validator import RowValidator
from app.geometry import read_point
from app.policy import kinds
from app.policy.fields import Field
from app.values.strict_json import loads

_NOTHING: Final[dict[str, Any]] = {}


def reported_fields(fields: Sequence[Field], columns: Columns) -> dict[str, Any]:
    """The fields of events that reported columns make. Those that are missing, or do not have the
    right form, are left out."""
    reported: dict[str, Any] = {}
    for field in fields:
        if field.in_events:
            reported |= _reported(field, columns)
    return reported


def _reported(field: Field, columns: Columns) -> dict[str, Any]:
    name = field.name
    if field.kind is kinds.TIME:
        return times(columns, name)
    if field.kind is kinds.HECTARES:
        area = columns.get(field.stored_as, ...)
        is_area = area is None or (type(area) is int and area >= 0)
        return {name: None if area is None else area / 10_000} if is_area else _NOTHING
    found = texts(columns, _column(field), nullable=field.nullable)
    if not found:
        return _NOTHING
    text = found[_column(field)]
    if field.kind is kinds.CHOICE and text is not None and text not in field.choices:
        return _NOTHING
    return _document(field, text) if field.kind in (kinds.POINT, kinds.OBJECT) else {name: text}


def _document(field: Field, text: str | None) -> dict[str, Any]:
    is_point = field.kind is kinds.POINT
    read = _point_text if is_point else input_field(field, nullable=False).deserialize
    value = RowValidator().document(field.name, text, read)
    if text is not None and value is None:
        return _NOTHING
    return {field.name: None if value is None else loads(value.encode())}


def _column(field: Field) -> str:
    """The name of a column in the database, which is that of the field where the model's attribute
    cannot be."""
    return field.name if field.kind is kinds.OBJECT else field.stored_as


def _point_text(value: Any) -> str:
    return read_point(value).text
