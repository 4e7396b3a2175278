"""Comparing the columns of a feature with the metadata of its target.

A file has fewer types than JSON, and a shapefile truncates the names of its columns. Equivalent
values are no change, so that a file that was exported and imported again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import orjson

from app.formats.writers.dbf import NAME_BYTES
from app.formats.writers.features import FEATURE_TYPES
from app.values.strict_json import dumps

_NUMBER: Final = re.compile(r"-?[0-9]{1,17}(\.[0-9]{0,17})?([eE][-+]?[0-9]{1,3})?", re.ASCII)


def changed_metadata(known: str | None, wanted: str) -> str | None:
    """The metadata updated with those of its feature, or None if that changes nothing."""
    before = orjson.loads(known or "{}")
    after = before | _in_known_form(before, orjson.loads(wanted))
    return None if after == before else dumps(after).decode()


def changed_keys(before: str | None, after: str | None) -> tuple[str, ...]:
    """The keys of metadata that ``changed_metadata`` has changed or added; none if it is None."""
    if after is None:
        return ()
    known = orjson.loads(before or "{}")
    found = orjson.loads(after).items()
    return tuple(key for key, value in found if key not in known or known[key] != value)


def _in_known_form(known: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Values in the form that they had before they went through a file with other types, or with
    truncated names; equivalent values keep their form."""
    found: dict[str, Any] = {}
    for name, value in wanted.items():
        key = name if name in known else _cut_off(name, known) or name
        same = key in known and _text(known[key]) == _text(value)
        if key in known or value not in (None, ""):
            found[key] = known[key] if same else value
    return found


def _cut_off(name: str, known: Collection[str]) -> str | None:
    """The one key that a shapefile, whose names have ten bytes, truncates to this name. Keys called
    like a field have a prefix there."""
    if len(name.encode()) != NAME_BYTES:
        return None
    longer = [key for key in known if any(each.startswith(name) for each in _columns(key))]
    return longer[0] if len(longer) == 1 else None


def _columns(key: str) -> Iterator[str]:
    return (type_.property_name(key) for type_ in FEATURE_TYPES.values())


def _text(value: Any) -> str:
    """A value as in a file of texts: 6, 6.0 and "6" are the same, and so are true and 1, and a
    missing value and an empty one. GDAL writes 15 digits of a number."""
    value = value.strip() if isinstance(value, str) else value
    if isinstance(value, bool) or value in ("true", "false"):
        return "1.0" if value in (True, "true") else "0.0"
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        number = float(value)
        return repr(number) if number.is_integer() else f"{number:.15g}"
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value).decode()
