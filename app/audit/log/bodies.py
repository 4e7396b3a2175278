"""Reading the text of an entry, which somebody may have changed into anything with SQL. Verifying
the log names such an entry; here it must not keep others from being read."""

from __future__ import annotations

import re
from types import NoneType
from typing import Any, Final

from app.values.clock import parse_time
from app.values.strict_json import is_within_levels, loads_own

CHANGED: Final = "This entry was changed and cannot be read. Verify the log."

# Each entry begins and ends like this, as its fields are sorted.
_BEGINNING: Final = '{"account_id":"'
_END: Final = "}}"
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
        entry = loads_own(body.encode())
        is_flat = body.count("{") + body.count("[") <= _LEVELS
        is_right = _is_entry(entry) and (is_flat or is_within_levels(entry, _LEVELS))
        return entry if is_right else None
    except ValueError:  # not JSON, or not a time
        return None


def _is_entry(entry: Any) -> bool:
    """Whether a value has what each entry has."""
    try:
        actor, target, via = entry["actor"], entry["target"], entry["via"]
        ids = (actor["id"], target["id"], via["import_id"])
        application = via["application"] or {"id": "", "label": ""}
        texts = [entry[name] for name in ("account_id", "action", "at", "id", "outcome")]
        texts += [each[name] for each in (actor, target) for name in ("type", "label")]
        texts += [application["id"], application["label"]]
        others = [*ids, *(via[name] for name in ("credential", "ip", "request_id", "user_agent"))]
        changes = entry["changes"]
    except (LookupError, TypeError):
        return False
    return (
        set(map(type, texts)) == {str}
        and {str, NoneType}.issuperset(map(type, others))
        and type(changes) in (dict, NoneType)
        and all(_ID.fullmatch(each or "") for each in (entry["id"], *ids))
        and _TIME.fullmatch(entry["at"]) is not None
        and parse_time(entry["at"]) is not None
    )
