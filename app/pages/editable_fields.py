"""Fields of projects and assets that people edit, from the tables of ``app.policy.fields``.

Names, types, statuses, locations and metadata have their own parts of the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field

_SEPARATE: Final = ("name", "type", "status")


def _editable_fields(table: Sequence[Field]) -> tuple[Field, ...]:
    return tuple(
        field
        for field in table
        if field.writable == "always" and field.kind.read and field.name not in _SEPARATE
    )


PROJECT_FIELDS: Final = _editable_fields(PROJECT)
ASSET_FIELDS: Final = _editable_fields(ASSET)


def field_text(field: Field, value: Any) -> str:
    """Write a value as a text for ``form_value``; empty for None."""
    if value is None:
        return ""
    if field.kind is kinds.BOOLEAN:
        return "yes" if value else "no"
    return str(value)


def form_value(field: Field, text: str) -> Any:
    """Read the text of a field as a value for the schema of the API; None for an empty text. Raises
    ValueError."""
    assert field.kind.read is not None
    return field.kind.read(text) if text else None


def field_facts(fields: Sequence[Field], record: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return (label, text, is_long) of each field with a value."""
    texts = ((field, field_text(field, record[field.name])) for field in fields)
    return [(field.words, text, field.is_long) for field, text in texts if text]
