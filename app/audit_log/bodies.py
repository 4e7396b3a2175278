"""Reading the text of an entry, which somebody may have changed into anything with SQL. Verifying
the log names such an entry; here it must not keep others from being read."""

from __future__ import annotations

import re
from types import NoneType
from typing import Any, Final

from app.values.clock import parse_time
from app.values.strict_json import is_within_levels, loads

CHANGED: Final = "This entry was changed and cannot be read. Verify the log."

# Each entry begins and ends like this, as its fields are sorted.
_BEGINNING: Final = '{"account_id":"'
_END: Final = "}}"
_TEXT: Final = (str,)
_TEXT_OR_NONE: Final = (str, NoneType)
_NAMED: Final = {"id": _TEXT_OR_NONE, "label": _TEXT, "type": _TEXT}
_FIELDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("account_id", "action", "at", "id", "outcome"), _TEXT),
    "actor": _NAMED,
    "target": _NAMED,
    "changes": (dict, NoneType),
    "via": {
        "application": (dict, NoneType),
        **dict.fromkeys(("credential", "import_id", "ip"), _TEXT_OR_NONE),
        **dict.fromkeys(("request_id", "user_agent"), _TEXT_OR_NONE),
    },
}
_APPLICATION: Final = {"id": _TEXT, "label": _TEXT}
_TIME: Final = re.compile(r"[0-9-]{10}T[0-9:.]{12}Z")
_ID: Final = re.compile(r"[!-~]*")  # that PostgreSQL can look for
_LEVELS: Final = 250  # that can be written again


def looks_whole(body: Any) -> bool:
    """Whether a text looks like an entry at both ends. It costs next to nothing, so it stands in
    for ``read_body`` where texts are sent as they are."""
    if not isinstance(body, str):
        return False
    return body.startswith(_BEGINNING) and body.endswith(_END) and "\n" not in body


def read_body(body: Any) -> dict[str, Any] | None:
    """An entry from its text; None if that is no entry."""
    if not isinstance(body, str):
        return None
    try:
        entry = loads(body.encode())
        is_flat = body.count("{") + body.count("[") <= _LEVELS
        is_right = _is_entry(entry) and (is_flat or is_within_levels(entry, _LEVELS))
        return entry if is_right else None
    except ValueError:  # not JSON, or not a time
        return None


def _is_entry(entry: Any) -> bool:
    if not _has(entry, _FIELDS):
        return False
    application = entry["via"]["application"]
    ids = (entry["actor"]["id"], entry["target"]["id"], entry["via"]["import_id"])
    return (
        (application is None or _has(application, _APPLICATION))
        and all(_ID.fullmatch(each or "") for each in (entry["id"], *ids))
        and _TIME.fullmatch(entry["at"]) is not None
        and parse_time(entry["at"]) is not None
    )


def _has(value: Any, fields: dict[str, Any]) -> bool:
    """Whether a value is an object with these fields, of these types."""
    return isinstance(value, dict) and all(
        _has(value.get(name), kinds)
        if isinstance(kinds, dict)
        else name in value and isinstance(value[name], kinds)
        for name, kinds in fields.items()
    )
