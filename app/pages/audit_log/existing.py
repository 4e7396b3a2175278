"""Which of the things that entries name still exist, so that their lines lead to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import id_values, is_among_ids
from app.models import Asset, Credential, Import, Membership, OAuthApplication, Project, Webhook


class _Kind(NamedTuple):
    """Where a kind of target has its page; ``{}`` are the columns."""

    path: str
    columns: tuple[InstrumentedAttribute[Any], ...]  # its id first
    conditions: tuple[ColumnElement[bool], ...] = ()


_LIVE_KEY: Final = (Credential.revoked_at.is_(None),)
_MEMBER: Final = _Kind("/members/{}", (Membership.user_id,))
_KINDS: Final = {
    "project": _Kind("/projects/{}", (Project.id,)),
    "asset": _Kind("/assets/{1}/{0}", (Asset.id, Asset.project_id)),
    "webhook": _Kind("/webhooks/{}", (Webhook.id,), (Webhook.deleted_at.is_(None),)),
    "application": _Kind("/applications/{}", (OAuthApplication.id,)),
    "import": _Kind("/imports/{}", (Import.id,)),
    "member": _MEMBER,
    "person": _MEMBER,
    "api_key": _Kind("/api-keys#{}", (Credential.id,), _LIVE_KEY),
    "service_token": _Kind("/service-tokens#{}", (Credential.id,), _LIVE_KEY),
}


def addresses_of(account_id: str, entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The addresses of the pages of what entries name as targets or imports, by its id; of what
    has been deleted since, none."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for entry in entries:
        target = entry["target"]
        if target["id"]:
            wanted[target["type"]].add(target["id"])
        if import_id := entry["via"].get("import_id"):
            wanted["import"].add(import_id)
    found = {account_id: "/settings"} if account_id in wanted["account"] else {}
    dialect = reading_engine().dialect.name
    for kind, ids in wanted.items():
        if kind in _KINDS and ids:
            values = {"account_id": account_id, "ids": id_values(sorted(ids), dialect)}
            for row in _existing(kind, dialect).tuples(**values):
                found[row[0]] = _KINDS[kind].path.format(*row)
    return found


@cache
def _existing(kind: str, dialect: str) -> CompiledQuery:
    path = _KINDS[kind]
    key: Any = path.columns[0]
    own = columns_of(key.class_, *path.columns)
    return CompiledQuery(own.where(is_among_ids(key, dialect), *path.conditions))
