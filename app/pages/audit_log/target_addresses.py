"""The addresses of the pages of what entries name, if it still exists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.models import Asset, Credential, Import, Membership, OAuthApplication, Project, Webhook


class _TargetKind(NamedTuple):
    """The path of the pages of a kind of target; ``{}`` are the columns."""

    path: str
    columns: tuple[InstrumentedAttribute[Any], ...]  # the id first
    conditions: tuple[ColumnElement[bool], ...] = ()


_LIVE_KEY: Final = (Credential.revoked_at.is_(None),)
_MEMBER: Final = _TargetKind("/members/{}", (Membership.user_id,))
_KINDS: Final = {
    "project": _TargetKind("/projects/{}", (Project.id,)),
    "asset": _TargetKind("/assets/{1}/{0}", (Asset.id, Asset.project_id)),
    "webhook": _TargetKind("/webhooks/{}", (Webhook.id,), (Webhook.deleted_at.is_(None),)),
    "application": _TargetKind("/applications/{}", (OAuthApplication.id,)),
    "import": _TargetKind("/imports/{}", (Import.id,)),
    "member": _MEMBER,
    "person": _MEMBER,
    "api_key": _TargetKind("/api-keys#{}", (Credential.id,), _LIVE_KEY),
    "service_token": _TargetKind("/service-tokens#{}", (Credential.id,), _LIVE_KEY),
}


def addresses_of(account_id: str, entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the addresses of what entries name as targets or imports, by id, without what was
    deleted since."""
    ids_by_kind: defaultdict[str, set[str]] = defaultdict(set)
    for entry in entries:
        target = entry["target"]
        if target["id"]:
            ids_by_kind[target["type"]].add(target["id"])
        if import_id := entry["via"].get("import_id"):
            ids_by_kind["import"].add(import_id)
    addresses = {account_id: "/settings"} if account_id in ids_by_kind["account"] else {}
    for kind, ids in ids_by_kind.items():
        if kind in _KINDS and ids:
            query = _existing_targets_query(kind)
            for row in query.tuples(account_id=account_id, ids=sorted(ids)):
                addresses[row[0]] = _KINDS[kind].path.format(*row)
    return addresses


@cache
def _existing_targets_query(kind: str) -> CompiledQuery:
    target = _KINDS[kind]
    key: Any = target.columns[0]
    rows = columns_of(key.class_, *target.columns)
    return CompiledQuery(rows.where(is_among_ids(key), *target.conditions))
