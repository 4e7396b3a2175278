"""Reading what an archive has, and how its files write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson
from flask import Flask

from app.exports.service import in_short_queries
from app.listing.batches import Readable
from app.values.strict_json import dumps

T = TypeVar("T")
Records = Iterator[Any]


class ExportedAccount(NamedTuple):
    """The account that an archive is about; ``instance`` is the URL of the service."""

    id: str
    slug: str
    instance: str


class Reading:
    """Reads one file of an archive, and counts its records.

    Args:
        app: gives each query a context of its own, so that nothing is held between two of them.
        on_batch: called with the number of records that were read since. It can raise an error to
            end the export.
    """

    def __init__(self, app: Flask, account_id: str, on_batch: Callable[[int], None]) -> None:
        self.app, self.account_id = app, account_id
        self._on_batch = on_batch
        self.records: int | None = 0  # None: it is no list

    def count(self, records: int) -> None:
        """Count records that were read."""
        self.records = (self.records or 0) + records
        self._on_batch(records)

    def one(self, read: Callable[[str], T]) -> T:
        """What a function reads of the account; there is nothing to count."""
        self.records = None
        with self.app.app_context():
            return read(self.account_id)

    def listed(self, read: Callable[[str], Sequence[Any]]) -> Records:
        """The records of a list that fits into memory."""
        with self.app.app_context():
            found = read(self.account_id)
        self.count(len(found))
        yield from found

    def scanned(self, begin: Callable[[str], Readable[Any]]) -> Records:
        """The records of a list of any length."""
        return in_short_queries(self.app, lambda: begin(self.account_id), self.count)


Content = Callable[[Reading], Iterator[bytes]]


def document(read: Callable[[str], Any]) -> Content:
    """A file with one JSON object."""

    def write(reading: Reading) -> Iterator[bytes]:
        yield orjson.dumps(reading.one(read), option=orjson.OPT_INDENT_2) + b"\n"

    return write


def array(read: Callable[[Reading], Records]) -> Content:
    """A file with a JSON array, each record on a line."""

    def write(reading: Reading) -> Iterator[bytes]:
        before = b"[\n"
        for record in read(reading):
            yield before + dumps(record)
            before = b",\n"
        yield b"[]\n" if before == b"[\n" else b"\n]\n"

    return write


def lines(read: Callable[[Reading], Records]) -> Content:
    """A file of NDJSON."""

    def write(reading: Reading) -> Iterator[bytes]:
        for record in read(reading):
            yield dumps(record) + b"\n"

    return write
