"""Assets for OGC API Features: filtered by any property, in pages that follow one another.

A row has the properties of a feature, the JSON of its metadata, and that of its geometry.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import func

from app.assets.listing import table_of
from app.db.column_types import byte_length
from app.formats.writers.features import ASSETS
from app.lists.intersecting import Source
from app.models import Asset
from app.usage.counters import counters
from app.values.records import columns


def _totals(account_id: str) -> tuple[None, int]:
    return None, int(counters(account_id).stored_bytes)


SOURCE: Final = Source(
    table_of(None),
    (*columns(Asset, ASSETS.property_fields), Asset.metadata_json, Asset.location),
    func.coalesce(byte_length(Asset.__table__.c.metadata_json), 0),
    None,
    _totals,
)
