"""The types and statuses of an account's assets, which are open vocabularies."""

from __future__ import annotations

from typing import Final, Literal

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.models import Asset
from app.policy.request_limits import ASSET_STATUSES, ASSET_TYPES, ASSET_WORDS

_DOCUMENTED: Final = {"type": ASSET_TYPES, "status": ASSET_STATUSES}
_NEXT: Final = {
    column.key: CompiledQuery(
        columns_of(Asset, column).where(column > bindparam("before")).order_by(column).limit(1)
    )
    for column in (Asset.type, Asset.status)
}


def known_words(account_id: str, field: Literal["type", "status"]) -> list[str]:
    """The documented words of a field, and at most ASSET_WORDS others that assets have.

    Each takes one look-up in an index, however many assets there are.
    """
    words = list(_DOCUMENTED[field])
    other_words, last = list[str](), ""
    while len(other_words) < ASSET_WORDS:
        row = _NEXT[field].first(account_id=account_id, before=last)
        if row is None:
            break
        last = row[0]
        if last not in words:
            other_words.append(last)
    return words + other_words
