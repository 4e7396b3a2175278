"""The columns of a collection's metadata, and values in the types of these columns.

Programs that draw maps take the columns from the schema, or from the first features that they read,
and have one type for each. So the schema and the first feature of a page have all keys, and a value
of another type is text.
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

Types = dict[str, str]  # types of JSON Schema, by the names of properties

AT_ONCE: Final = 256 * 1024  # bytes of metadata
_ROWS: Final = 200  # fetched at a time
_CACHED_SECONDS: Final = 600.0  # until unused columns disappear
CACHE_SIZE: Final = 1_000
_OVERLAP: Final = timedelta(minutes=1)  # a change can be older than its commit
_JSON_TYPES: Final[dict[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object",
}  # fmt: skip
_NUMBERS: Final = {"integer", "number"}


class _CachedKinds(NamedTuple):
    """The types of the metadata's values when the records were read."""

    version: object  # of the account's lists, as ``lists_version`` returns it
    kinds: dict[str, set[str]]  # types of the values, by the names of properties
    read_at: datetime
    until: float


_cache: dict[tuple[str, str, tuple[str, ...] | None], _CachedKinds] = {}


def metadata_types(principal: Principal, collection: Collection) -> Types:
    """The types of the columns, sorted by name. A column with values of several types, objects or
    arrays is text.

    The first time, the newest records are read; after a change of the account's lists, those that
    changed since. Each process has its own cache.
    """
    account_id, key = principal.account_id, (principal.account_id, collection.id)
    version, cached = totals.lists_version(account_id), _cache.get((*key, principal.project_ids))
    if cached is None or time.monotonic() > cached.until:
        cached = _CachedKinds(None, {}, clock.now(), time.monotonic() + _CACHED_SECONDS)
        _read_kinds(principal, collection, cached.kinds, None)
    elif cached.version != version:
        since, cached = cached.read_at - _OVERLAP, cached._replace(read_at=clock.now())
        _read_kinds(principal, collection, cached.kinds, since)
    _cache.pop((*key, principal.project_ids), None)
    _cache[*key, principal.project_ids] = cached._replace(version=version)
    for oldest in list(_cache)[:-CACHE_SIZE]:
        _cache.pop(oldest, None)
    return {name: _type_of(kinds) for name, kinds in sorted(cached.kinds.items())}


def as_columns(properties: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """Properties from the metadata; values that do not fit the type of their column as text."""
    return {
        name: value
        if value is None or isinstance(value, str)
        else _fit_value(value, types.get(name))
        for name, value in properties.items()
    }


def restore_types(sent: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Undo ``as_columns`` in metadata that was sent: an unchanged text becomes the stored value;
    that of an object or array is parsed."""
    return {key: _restore_value(value, stored.get(key)) for key, value in sent.items()}


def _fit_value(value: Any, kind: str | None) -> Any:
    is_text = kind == "string" or isinstance(value, list | dict)
    return as_text(value) if is_text else value


def _restore_value(sent: Any, stored: Any) -> Any:
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
    """Add the types of the newest records, or of those that changed at ``since`` or later."""
    filters = {"updated_since": since} if since else {}
    query = ListQuery(within=principal.project_ids, filters=filters)
    statement = list_statement(collection.source.table, query)
    values = statement.values(principal.account_id, principal.account_id, query)
    rows = _newest_metadata(statement).stream(_ROWS, **values, most=SCHEMA_RECORDS)
    for batch in batched_by_bytes(_up_to(SCHEMA_BYTES, chain.from_iterable(rows)), len, AT_ONCE):
        for key, value in chain.from_iterable(orjson.loads(text).items() for text in batch):
            name = collection.type.property_name(display_text(key))
            if value is not None and (name in kinds or len(kinds) < SCHEMA_KEYS):
                kinds.setdefault(name, set()).add(_JSON_TYPES[type(value)])


def _up_to(most: int, rows: Iterator[tuple[str]]) -> Iterator[str]:
    """Yield texts up to ``most`` characters in total."""
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
