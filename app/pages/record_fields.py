"""The fields that the forms and pages of projects and assets show as ``app.policy.fields`` lists
them.

Names, types, statuses, places and metadata have their own parts of the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from werkzeug.datastructures import MultiDict

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


def texts_of(fields: Sequence[Field], record: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a record as the form shows them."""
    return {field.name: _shown(field, record[field.name]) for field in fields}


def sent_texts(fields: Sequence[Field], form: MultiDict[str, str]) -> dict[str, str]:
    """Return what was sent, with line ends as they are stored."""
    return {field.name: form.get(field.name, "").replace("\r\n", "\n").strip() for field in fields}


def read_texts(
    fields: Sequence[Field], texts: Mapping[str, str], errors: dict[str, list[str]]
) -> dict[str, Any]:
    """Return the values for the schema of the API; an empty text is None.

    Args:
        errors: messages by field, to which those of texts that cannot be read are added.
    """
    values: dict[str, Any] = {}
    for field in fields:
        assert field.kind.read is not None
        try:
            text = texts[field.name]
            values[field.name] = field.kind.read(text) if text else None
        except ValueError as error:
            errors[field.name] = [str(error)]
    return values


def facts(fields: Sequence[Field], record: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return the label and the text of each field that has a value, and whether it is long."""
    found = ((field, _shown(field, record[field.name])) for field in fields)
    return [(field.words, text, field.is_long) for field, text in found if text]


def _shown(field: Field, value: Any) -> str:
    """Return a value as a text that the form can read again; empty if there is none."""
    if value is None:
        return ""
    if field.kind is kinds.BOOLEAN:
        return "yes" if value else "no"
    return str(value)
