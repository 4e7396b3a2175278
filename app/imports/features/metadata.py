"""Comparing the columns of a feature with the metadata of its target.

A file has fewer types than JSON, and a shapefile truncates the names of its columns. Equivalent
values are no change: importing an export again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

import orjson

from app.formats.writers.dbf import NAME_BYTES
from app.formats.writers.features import FEATURE_TYPES
from app.values.strict_json import dumps

_INTEGER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_NUMBER: Final = re.compile(r"-?[0-9]{1,17}(\.[0-9]{0,17})?([eE][-+]?[0-9]{1,3})?", re.ASCII)
_EXACT: Final = 2.0**63  # below which whole floats are compared with integers


def changed_metadata(stored: str | None, imported: str) -> str | None:
    """Update metadata with a feature's. Returns JSON, or None if nothing changes."""
    before = orjson.loads(stored or "{}")
    after = before | _in_stored_form(before, orjson.loads(imported))
    return None if after == before else dumps(after).decode()


def changed_keys(before: str | None, after: str | None) -> tuple[str, ...]:
    """The keys that ``changed_metadata`` has added or changed."""
    if after is None:
        return ()
    old = orjson.loads(before or "{}")
    new = orjson.loads(after)
    return tuple(key for key, value in new.items() if key not in old or old[key] != value)


def _in_stored_form(stored: dict[str, Any], imported: dict[str, Any]) -> dict[str, Any]:
    """Imported metadata with the keys, and equivalent values, as they are stored."""
    metadata: dict[str, Any] = {}
    for name, value in imported.items():
        key = name if name in stored else _whole_key(name, stored) or name
        is_same = key in stored and _comparable_text(stored[key]) == _comparable_text(value)
        if key in stored or value not in (None, ""):
            metadata[key] = stored[key] if is_same else value
    return metadata


def _whole_key(name: str, keys: Collection[str]) -> str | None:
    """The key that a shapefile has truncated to this name; None without, or if there are several.
    A shapefile prefixes keys called like a field."""
    if len(name.encode()) != NAME_BYTES:
        return None
    types = FEATURE_TYPES.values()
    longer = [key for key in keys if any(of.property_name(key).startswith(name) for of in types)]
    return longer[0] if len(longer) == 1 else None


def _comparable_text(value: Any) -> str:
    """A value as text that is the same for 6, 6.0 and "6", for true and 1, for null and "". GDAL
    writes 15 digits of a number."""
    value = value.strip() if isinstance(value, str) else value
    if isinstance(value, bool) or value in ("true", "false"):
        return "1" if value in (True, "true") else "0"
    if isinstance(value, int) or (isinstance(value, str) and _INTEGER.fullmatch(value)):
        return str(int(value))
    if isinstance(value, float) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        number = float(value)
        is_whole = number.is_integer() and abs(number) < _EXACT
        return str(int(number)) if is_whole else f"{number:.15g}"
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value).decode()
