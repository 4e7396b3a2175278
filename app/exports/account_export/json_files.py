"""The JSON files of an archive, from the records of an account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson
from flask import Flask

from app.lists.scanning import Reader, in_short_queries
from app.values.strict_json import dumps

T = TypeVar("T")


class ExportedAccount(NamedTuple):
    """The account of an archive; ``instance`` is the URL of the service."""

    id: str
    slug: str
    instance: str


class AccountReader:
    """Reads the records of an account for one file of an archive, and counts them.

    Args:
        app: provides a context for each query, so that nothing is held between queries.
        on_batch: called with the number of records of each batch; an error that it raises ends the
            export.
    """

    def __init__(self, app: Flask, account_id: str, on_batch: Callable[[int], None]) -> None:
        self.app, self.account_id = app, account_id
        self._on_batch = on_batch
        self.records: int | None = 0  # None: not a list

    def count(self, records: int) -> None:
        """Add to the number of records read."""
        self.records = (self.records or 0) + records
        self._on_batch(records)

    def call(self, read: Callable[[str], T]) -> T:
        """Call a function with the id of the account, in an app context."""
        with self.app.app_context():
            return read(self.account_id)


Records = Callable[[AccountReader], Iterator[Any]]
FileContent = Callable[[AccountReader], Iterator[bytes]]


def from_list(read: Callable[[str], Sequence[Any]]) -> Records:
    """The records of a list that fits into memory."""

    def records(reader: AccountReader) -> Iterator[Any]:
        items = reader.call(read)
        reader.count(len(items))
        yield from items

    return records


def from_scan(scan: Callable[[Reader, str], Iterable[list[Any]]]) -> Records:
    """The records of a list of any length."""
    return lambda reader: in_short_queries(
        reader.app, lambda read: scan(read, reader.account_id), reader.count
    )


def json_object(read: Callable[[str], Any]) -> FileContent:
    """A file with one JSON object."""

    def write(reader: AccountReader) -> Iterator[bytes]:
        reader.records = None
        yield orjson.dumps(reader.call(read), option=orjson.OPT_INDENT_2) + b"\n"

    return write


def json_array(records: Records) -> FileContent:
    """A file with a JSON array, each record on a line."""

    def write(reader: AccountReader) -> Iterator[bytes]:
        before = b"[\n"
        for record in records(reader):
            yield before + dumps(record)
            before = b",\n"
        yield b"[]\n" if before == b"[\n" else b"\n]\n"

    return write


def ndjson_file(records: Records) -> FileContent:
    """A file of NDJSON."""

    def write(reader: AccountReader) -> Iterator[bytes]:
        for record in records(reader):
            yield dumps(record) + b"\n"

    return write
