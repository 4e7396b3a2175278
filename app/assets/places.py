"""The assets on a map: the latest ones in a box.

If few assets are in a box, the index of boxes finds them. If many are, the index of the list's
order is read until enough lie in the box.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from app.assets.listing import table_of
from app.db.search_index import box_values
from app.geometry import WORLD
from app.lists.query import ListQuery
from app.lists.statements import count_named, list_statement, page_query
from app.models import Asset
from app.policy.request_limits import ASSETS_MAP_FEATURES, ASSETS_MAP_NEAR

_SHOWN: Final = (
    Asset.id, Asset.project_id, Asset.name, Asset.type, Asset.status, Asset.longitude,
    Asset.latitude,
)  # fmt: skip


class Places(NamedTuple):
    """At most ASSETS_MAP_FEATURES assets: id, project_id, name, type, status, longitude and
    latitude. ``is_all`` if there are no others."""

    rows: list[Any]
    is_all: bool


def find_places(account_id: str, project_id: str | None, query: ListQuery) -> Places:
    """The assets with a location that match the filters of a query, the newest first; the last
    changed first if the only filter is the time of the change.

    Args:
        project_id: None for the assets of all projects of the account.
    """
    sort = "updated_at" if query.conditions - {"bbox"} == {"updated_since"} else "created_at"
    query = query._replace(bbox=query.bbox or WORLD, sort=sort, order="desc")
    statement = list_statement(table_of(project_id), query)
    values = statement.values(account_id, project_id or account_id, query)
    is_named = statement.index != "box" or _are_few(account_id, query.bbox, statement.dialect)
    size = ASSETS_MAP_FEATURES + 1
    page = page_query(statement, _SHOWN, in_order=not is_named)
    rows = page.all(**values, size=size, skipped=0)
    return Places(rows[:ASSETS_MAP_FEATURES], len(rows) < size)


def _are_few(account_id: str, box: Any, dialect: str) -> bool:
    """True if the account has few assets in a box, in any project."""
    values = box_values(box, account_id, dialect) | {"account_id": account_id}
    named = count_named(table_of(None), dialect, "box")
    near = named.scalar(**values, most=ASSETS_MAP_NEAR + 1)
    return int(near) <= ASSETS_MAP_NEAR
