"""CSV (RFC 4180) in UTF-8: a row of headings, the geometry as WKT in the last column.

A spreadsheet takes a text that begins with ``=``, ``+``, ``-`` or ``@``, also wide ones or after a
line end or tab, for a formula, which can run programs or send data away (CWE-1236). Such a text
goes out with an apostrophe before it, and so does one that has one already, so that an import can
take it off again. Numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from app.formats.writers.columns import Table
from app.formats.writers.features import Feature
from app.formats.writers.source import Source
from app.formats.writers.wkt import write_wkt
from app.values.strict_json import dumps

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_QUOTED: Final = re.compile(r'[",\r\n]|^\s|\s$|^$')


def write_csv(source: Source) -> Iterator[bytes]:
    """A row for each feature. An empty text is quoted, and where there is no value is nothing."""
    table = Table(source)
    yield csv_line([*(column.name for column in table.columns), "geometry"])
    for feature in source.features():
        yield csv_line([*table.row(feature), _geometry(feature)])


def _geometry(feature: Feature) -> str | None:
    return None if feature.geometry is None else write_wkt(feature.geometry)


def csv_line(values: Sequence[Any]) -> bytes:
    """A row, in which no text is taken for a formula."""
    return (",".join(map(_cell, values)) + "\r\n").encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return dumps(value).decode()
    text = f"'{value}" if _FORMULA.match(value) else value
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
