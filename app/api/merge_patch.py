"""JSON Merge Patch (RFC 7396), for the metadata of projects and assets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import marshmallow as ma
from flask import request

from app.api.parsing import details_of
from app.http.errors import ValidationFailed
from app.values.kind_schemas import JsonObject
from app.values.strict_json import loads_own

MERGE_PATCH: Final = "application/merge-patch+json"
_COLUMN: Final = "metadata_json"


def merge_metadata(values: dict[str, Any], lock: Callable[[], Any]) -> None:
    """Merge the metadata of an update into the stored ones, if the request is a merge patch.

    Args:
        values: the loaded body, which is changed.
        lock: locks and returns the row.

    Raises:
        ValidationFailed: they would be larger than allowed.
    """
    if request.mimetype != MERGE_PATCH or values.get(_COLUMN) is None:
        return
    patch = loads_own(values[_COLUMN].encode())
    values[_COLUMN] = merged_text(lock().metadata_json, patch, "metadata")


def merged_text(stored: str | None, patch: Any, field: str) -> str:
    """The JSON text of stored metadata after a patch. Raises ValidationFailed, with ``field``."""
    merged = _merge(loads_own(stored.encode()) if stored else {}, patch)
    try:
        return str(JsonObject().deserialize(merged))
    except ma.ValidationError as error:
        details = [replace(detail, field=field) for detail in details_of(error)]
        raise ValidationFailed(details=details) from None


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge(merged.get(name), value)
    return merged
