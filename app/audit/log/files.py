"""The audit log as a file: NDJSON that can be verified, or with filters NDJSON and CSV.

The file is written while the client reads it, some rows at a time. It holds no connection between
two queries, so a batch can be sealed or deleted meanwhile; each part of a file is consistent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from functools import cache
from itertools import chain
from typing import Any, Final, ParamSpec, TypeVar

from flask import Flask
from sqlalchemy import bindparam, or_

from app.audit.log.bodies import BODY, read_body
from app.audit.log.checkpoints import next_checkpoint
from app.audit.log.filters import (
    EntryQuery,
    entry_parameters,
    filtered_entries,
)
from app.audit.log.keys import list_keys
from app.audit.proof import checkpoint as proof
from app.audit.proof.checkpoint import Checkpoint
from app.audit.proof.findings import UNREADABLE
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.formats.writers.delimited import csv_line
from app.formats.writers.source import byte_blocks
from app.models import AuditEntry
from app.values import clock
from app.values.records import Record
from app.values.strict_json import dumps
from app.values.version import VERSION

P = ParamSpec("P")
T = TypeVar("T")

FORMATS: Final = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
_AT_ONCE: Final = 250  # entries that are read at a time
_ACTOR: Final = ("type", "id", "label")
_VIA: Final = ("credential", "application", "request_id", "ip", "user_agent", "import_id")
HEADINGS: Final = (
    *("id", "at", "action", "outcome"),
    *(f"actor_{name}" for name in _ACTOR),
    *_VIA,
    *(f"target_{name}" for name in _ACTOR),
    "changes",
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")

_BATCH = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.number, AuditEntry.id)
    .add_columns(BODY)
    .where(AuditEntry.number >= bindparam("first"), AuditEntry.number <= bindparam("last"))
    .order_by(AuditEntry.number)
    .limit(_AT_ONCE)
)
# Entries that are sealed while the tail is read still belong to it.
_TAIL = CompiledQuery(
    columns_of(AuditEntry, AuditEntry.id)
    .add_columns(BODY)
    .where(
        or_(AuditEntry.number.is_(None), AuditEntry.number > bindparam("last")),
        AuditEntry.id > bindparam("after"),
    )
    .order_by(AuditEntry.id)
    .limit(_AT_ONCE)
)


class ContextReader:
    """Runs each query in its own application context, so that no connection is held."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def __call__(self, query: Callable[P, T], *args: P.args, **values: P.kwargs) -> T:
        with self._app.app_context():
            return query(*args, **values)


def write_file(
    app: Flask, account_id: str, format_name: str, query: EntryQuery
) -> Generator[bytes]:
    """Yield the pieces of a file with all entries that match a query, whatever its page, oldest
    first; the caller closes it. The whole log as NDJSON can be verified.

    Args:
        app: each query runs in its own context of this application.
        format_name: one of ``FORMATS``.
    """
    if format_name == "csv":
        return byte_blocks(_csv_lines(_matching_entries(app, account_id, query)))
    filters = filters_of(query)
    if not filters:
        return byte_blocks(line + b"\n" for line in proof_lines(app, account_id))
    head = dumps(_file_head(account_id, [], filters))
    lines = (_entry_line(*row) + b"\n" for row in _matching_entries(app, account_id, query))
    return byte_blocks(chain([head + b"\n"], lines))


def filters_of(query: EntryQuery) -> dict[str, str]:
    """Return the filters of a query by name, as text."""
    named = {name: clock.format_value(value) for name, value in query._asdict().items()}
    return {
        name: value for name, value in named.items() if value and name not in ("page", "per_page")
    }


def proof_lines(app: Flask, account_id: str) -> Iterator[bytes]:
    """Yield the lines of the whole log: a head, each checkpoint followed by its entries, the
    entries that are not sealed, an end. ``docs/audit-log.md`` describes them."""
    read = ContextReader(app)
    yield dumps(_file_head(account_id, read(list_keys), {}))
    number: int | None = None
    checkpoints = entries = last = 0
    while checkpoint := read(next_checkpoint, account_id, number):
        number = checkpoint.number
        checkpoints += 1
        if not checkpoint.is_valid():  # verification reports it
            yield dumps({"checkpoint": {"number": str(number)}})
            continue
        checkpoint, batch = _with_entries(read, account_id, checkpoint)
        yield dumps({"checkpoint": checkpoint._asdict()})
        for entry_id, body in batch:
            entries += 1
            yield _entry_line(entry_id, body)
        last = checkpoint.last
    yield dumps({"not_sealed": {"after": last}})
    for entry_id, body in _unsealed_rows(read, account_id, last):
        entries += 1
        yield _entry_line(entry_id, body)
    yield dumps({"end": {"checkpoints": checkpoints, "entries": entries}})


def _entry_line(entry_id: str, body: bytes) -> bytes:
    """Return the line of an entry.

    An unreadable one could be mistaken for another line of the file. Its line says that it is
    unreadable, and no checkpoint covers it.
    """
    return dumps({"id": entry_id, UNREADABLE: True}) if read_body(body) is None else body


def _with_entries(
    read: ContextReader, account_id: str, checkpoint: Checkpoint
) -> tuple[Checkpoint, list[tuple[Any, ...]]]:
    """Return a checkpoint with its entries. If some are missing, it is read again, as they may just
    have been deleted by age."""
    entries = list(_numbered_rows(read, account_id, checkpoint))
    if checkpoint.entry_hashes and len(entries) != checkpoint.last - checkpoint.first + 1:
        checkpoint = read(next_checkpoint, account_id, checkpoint.number - 1) or checkpoint
    return checkpoint, entries if checkpoint.entry_hashes else []


def _numbered_rows(
    read: ContextReader, account_id: str, checkpoint: Checkpoint
) -> Iterator[tuple[Any, ...]]:
    values = {"account_id": account_id, "first": checkpoint.first, "last": checkpoint.last}
    while rows := read(_BATCH.tuples, **values):
        yield from (row[1:] for row in rows)
        values["first"] = rows[-1][0] + 1


def _unsealed_rows(read: ContextReader, account_id: str, last: int) -> Iterator[tuple[Any, ...]]:
    values = {"account_id": account_id, "last": last, "after": ""}
    while rows := read(_TAIL.tuples, **values):
        yield from rows
        values["after"] = rows[-1][0]


def _matching_entries(app: Flask, account_id: str, query: EntryQuery) -> Iterator[tuple[Any, ...]]:
    """Yield the id and the text of each entry that matches a query."""
    read, values = ContextReader(app), entry_parameters(account_id, query)
    statement, values["after"] = _filtered_entries_query(frozenset(values)), ""
    while rows := read(statement.tuples, **values):
        yield from rows
        values["after"] = values["since_id"] = rows[-1][0]


@cache
def _filtered_entries_query(filters: frozenset[str]) -> CompiledQuery:
    rows = filtered_entries(AuditEntry.id.expression, filters).add_columns(BODY)
    rows = rows.where(AuditEntry.id > bindparam("after"))
    return CompiledQuery(rows.order_by(AuditEntry.id).limit(_AT_ONCE))


def _file_head(account_id: str, keys: list[dict[str, Any]], filters: dict[str, str]) -> Record:
    about = {
        "format": proof.FORMAT,
        "version": VERSION,
        "account_id": account_id,
        "made_at": clock.format_time(clock.now()),
        "filters": filters or None,
        "keys": keys,
    }
    return {"audit_log": about}


def _csv_lines(rows: Iterator[tuple[Any, ...]]) -> Iterator[bytes]:
    yield csv_line(HEADINGS)
    for _, body in rows:
        if (entry := read_body(body)) is not None:
            yield csv_line(_escaped_cells(entry))


def _escaped_cells(entry: dict[str, Any]) -> list[Any]:
    """The columns, with control characters, which a terminal would obey, escaped as in JSON."""
    return [
        _escape_control_characters(cell) if isinstance(cell, str) else cell
        for cell in _entry_cells(entry)
    ]


def _escape_control_characters(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _entry_cells(entry: dict[str, Any]) -> list[Any]:
    via = dict(entry["via"])
    if via["application"]:
        via["application"] = via["application"]["id"]
    return [
        *(entry[name] for name in ("id", "at", "action", "outcome")),
        *(entry["actor"][name] for name in _ACTOR),
        *(via[name] for name in _VIA),
        *(entry["target"][name] for name in _ACTOR),
        None if entry["changes"] is None else dumps(entry["changes"]).decode(),
    ]
