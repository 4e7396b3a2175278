"""The stored text of entries.

If somebody has made a row unreadable with SQL, ``read_body`` returns None. Lists, pages and CSV
files skip it, the worker does not seal it, and verification and the doctor report it.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, Final

from app.db.column_types import stored_bytes
from app.models import AuditEntry
from app.values.clock import parse_time
from app.values.strict_json import loads_own

BODY: Final = stored_bytes(AuditEntry.body.expression).label("body")


def read_body(body: bytes) -> dict[str, Any] | None:
    """Return the entry in a stored text, or None if the text is not an entry on one line."""
    try:
        entry = loads_own(body)
        actor, target, via = entry["actor"], entry["target"], entry["via"]
        texts = [entry[name] for name in ("account_id", "action", "at", "id", "outcome")]
        texts += [whom[name] for whom in (actor, target) for name in ("type", "label")]
        optional = [actor["id"], target["id"], via["ip"], via["user_agent"], via["import_id"]]
        parse_time(entry["at"])
        is_entry = (
            set(map(type, texts)) == {str}
            and {str, NoneType}.issuperset(map(type, optional))
            and isinstance(entry["changes"], dict | None)
            and isinstance(via["application"], dict | None)
            and b"\n" not in body
        )
    except (LookupError, TypeError, ValueError):
        return None
    return entry if is_entry else None
