"""Fields of a resource that an update may contain but not change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.http.errors import Detail, ValidationFailed

_CHANGED_ELSEWHERE: Final = {
    "project_id": "Cannot be changed here. To move an asset, create it in the other project and "
    "delete this one.",
    "name": "Cannot be changed here. People change their names themselves, in their profiles.",
}


def check_fixed(values: Mapping[str, Any], **current: str) -> dict[str, Any]:
    """Return the values of an update without the fields that never change.

    Args:
        values: the loaded body.
        current: the current values of those fields.

    Raises:
        ValidationFailed: ``values`` would change one of them.
    """
    details = [
        Detail(name, f"{_immutable_message(name)} Leave it out, or send {value!r}.", "read_only")
        for name, value in current.items()
        if values.get(name, value) != value
    ]
    if details:
        raise ValidationFailed(details=details)
    return {name: value for name, value in values.items() if name not in current}


def _immutable_message(name: str) -> str:
    return _CHANGED_ELSEWHERE.get(name, f"The {name} of a resource never changes.")
