"""The fields that the forms and pages of projects and assets show as ``app.policy.fields`` lists
them.

Names, types, statuses, places and metadata have their own parts of the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field

_OTHERWISE: Final = ("name", "type", "status")


def _listed(table: Sequence[Field]) -> tuple[Field, ...]:
    return tuple(
        field
        for field in table
        if field.writable == "always" and field.kind.read and field.name not in _OTHERWISE
    )


PROJECT_FIELDS: Final = _listed(PROJECT)
ASSET_FIELDS: Final = _listed(ASSET)


def field_text(field: Field, value: Any) -> str:
    """Return a value as a text that ``read_field`` reads; empty if there is none."""
    if value is None:
        return ""
    if field.kind is kinds.BOOLEAN:
        return "yes" if value else "no"
    return str(value)


def read_field(field: Field, text: str) -> Any:
    """Return the value of a text as the schema of the API takes it; None for an empty one. Raises
    ValueError."""
    assert field.kind.read is not None
    return field.kind.read(text) if text else None


def facts(fields: Sequence[Field], record: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return the label and the text of each field that has a value, and whether it is long."""
    found = ((field, field_text(field, record[field.name])) for field in fields)
    return [(field.words, text, field.is_long) for field, text in found if text]
