"""The last emails of the instance."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import select

from app.db.column_types import api_column
from app.db.queries import CompiledQuery
from app.models import Mail
from app.policy.instance import LISTED

_COLUMNS: Final = (
    *(Mail.id, Mail.kind, Mail.recipient, Mail.error),
    *(Mail.created_at, Mail.due_at, Mail.sent_at),
)
_NEWEST_FIRST: Final = (Mail.created_at.desc(), Mail.id.desc())
_LATEST: Final = CompiledQuery(
    select(*map(api_column, _COLUMNS)).order_by(*_NEWEST_FIRST).limit(LISTED)
)


def list_mails() -> list[Any]:
    """Return the last mails, the newest first, without what they say."""
    return _LATEST.all()
