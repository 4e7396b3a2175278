"""The columns that the metadata of a collection's records gives, and values as these columns have
them.

Programs that draw maps take the columns from the schema, or from the first features that they read,
and have one type for each. So the schema has all keys, the first feature of a page has them too,
and a value that fits no type is text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import bindparam

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.formats.writers.columns import as_text
from app.lists import totals
from app.lists.query import ListQuery
from app.lists.statements import ListStatement, list_statement
from app.ogc.collections import Collection
from app.policy.ogc import SCHEMA_BYTES, SCHEMA_KEYS, SCHEMA_RECORDS
from app.values import clock
from app.values.batching import batched_by_bytes
from app.values.text import display_text

Types = dict[str, str]  # of JSON Schema, by the names of properties

_AT_ONCE: Final = 256 * 1024  # bytes of metadata
_ROWS: Final = 200  # that are fetched at once
_KEPT_SECONDS: Final = 600.0  # until columns vanish that no record has any more
_MOST: Final = 1_000  # of what is kept
_OVERLAP: Final = timedelta(minutes=1)  # a change can be older than its commit
_JSON_TYPES: Final[dict[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip
_NUMBERS: Final = {"integer", "number"}


class _Found(NamedTuple):
    """What the metadata of the records had when it was read."""

    version: object  # of the account's lists
    kinds: dict[str, set[str]]  # types of the values, by the names of properties
    read_at: datetime
    until: float


_found: dict[tuple[str, str, tuple[str, ...] | None], _Found] = {}


def metadata_types(principal: Principal, collection: Collection) -> Types:
    """The types of the columns, sorted by name. A column whose values have several types, or that
    has objects or arrays, is text.

    The first time, the newest records are read; after a change of the account's lists, those that
    changed since. Each process keeps its own.
    """
    account_id, key = principal.account_id, (principal.account_id, collection.id)
    version, kept = totals.lists_version(account_id), _found.get((*key, principal.project_ids))
    if kept is None or time.monotonic() > kept.until:
        kept = _Found(None, {}, clock.now(), time.monotonic() + _KEPT_SECONDS)
        _read_kinds(principal, collection, kept.kinds, None)
    elif kept.version != version:
        since, kept = kept.read_at - _OVERLAP, kept._replace(read_at=clock.now())
        _read_kinds(principal, collection, kept.kinds, since)
    _found.pop((*key, principal.project_ids), None)
    _found[*key, principal.project_ids] = kept._replace(version=version)
    for oldest in list(_found)[:-_MOST]:
        _found.pop(oldest, None)
    return {name: _type_of(kinds) for name, kinds in sorted(kept.kinds.items())}


def as_columns(properties: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """Properties from the metadata, with text for what does not fit the types of their columns."""
    return {
        name: value if value is None or isinstance(value, str) else _fitting(value, types.get(name))
        for name, value in properties.items()
    }


def as_kept(sent: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata that was sent, with the values that ``as_columns`` made texts of: a text that was
    not changed is what it was, and that of an object or an array is read as JSON."""
    return {key: _kept(value, stored.get(key)) for key, value in sent.items()}


def _fitting(value: Any, kind: str | None) -> Any:
    is_text = kind == "string" or isinstance(value, list | dict)
    return as_text(value) if is_text else value


def _kept(sent: Any, stored: Any) -> Any:
    if not isinstance(sent, str) or stored is None or isinstance(stored, str):
        return sent
    if as_text(stored) == sent:
        return stored
    if isinstance(stored, list | dict):
        try:
            parsed = orjson.loads(sent)
        except orjson.JSONDecodeError:
            return sent
        return parsed if isinstance(parsed, list | dict) else sent
    return sent


def _type_of(kinds: set[str]) -> str:
    if kinds <= _NUMBERS:
        return "number" if "number" in kinds else "integer"
    return "boolean" if kinds == {"boolean"} else "string"


def _read_kinds(
    principal: Principal, collection: Collection, kinds: dict[str, set[str]], since: datetime | None
) -> None:
    """Add what the newest records have, or those that changed at a time or later."""
    query = ListQuery(within=principal.project_ids, updated_since=since)
    statement = list_statement(collection.source.table, query)
    values = statement.values(principal.account_id, principal.account_id, query)
    rows = _newest_metadata(statement).stream(_ROWS, **values, most=SCHEMA_RECORDS)
    for some in batched_by_bytes(_up_to(SCHEMA_BYTES, chain.from_iterable(rows)), len, _AT_ONCE):
        for key, value in chain.from_iterable(orjson.loads(text).items() for text in some):
            name = collection.type.property_name(display_text(key))
            if value is not None and (name in kinds or len(kinds) < SCHEMA_KEYS):
                kinds.setdefault(name, set()).add(_JSON_TYPES[type(value)])


def _up_to(most: int, rows: Iterator[tuple[str]]) -> Iterator[str]:
    """Yield texts until they have so many characters together."""
    for (text,) in rows:
        most -= len(text)
        if most < 0:
            return
        yield text


@cache
def _newest_metadata(statement: ListStatement) -> CompiledQuery:
    model: Any = statement.table.model
    newest = columns_of(model, model.metadata_json).where(model.metadata_json.is_not(None))
    order = (model.created_at.desc(), model.id.desc())
    return CompiledQuery(statement.filtered(newest).order_by(*order).limit(bindparam("most")))
