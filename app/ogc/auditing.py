"""Entries of the audit log about features that are read in bulk."""

from __future__ import annotations

from flask import Response

from app.audit.entries import Target, record
from app.auth.principal import Principal
from app.ogc.collections import Collection
from app.ogc.parameters import Query
from app.policy.audit import LARGE_READ
from app.policy.ogc import LIMIT_DEFAULT


def is_bulk_read(query: Query, response: Response) -> bool:
    """Whether this begins to read more features than LARGE_READ, by pages of as many or at once."""
    limit = query.limit or LIMIT_DEFAULT
    is_first = query.after is None and response.status_code == 200
    return is_first and (limit > LARGE_READ or (limit == LARGE_READ and "Link" in response.headers))


def record_bulk_read(principal: Principal, collection: Collection) -> None:
    """Record that somebody reads a collection."""
    record(
        f"{collection.id.removesuffix('s')}.bulk_read",
        Target("account", principal.account_id, principal.account_name),
        account_id=principal.account_id,
    )
