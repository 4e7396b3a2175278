"""Fields of a resource that an update may name but never change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.http.errors import Detail, ValidationFailed


def check_fixed(values: Mapping[str, Any], **current: str) -> dict[str, Any]:
    """The values of an update without the fields that never change.

    Args:
        values: as the schema of the body loaded them.
        current: those fields as they are.

    Raises:
        ValidationFailed: ``values`` has one of them, and would change it.
    """
    details = [
        Detail(name, f"The {name} of a resource never changes. Leave it out, or send {value!r}.")
        for name, value in current.items()
        if values.get(name, value) != value
    ]
    if details:
        raise ValidationFailed(details=details)
    return {name: value for name, value in values.items() if name not in current}
