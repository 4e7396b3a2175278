"""CSV (RFC 4180) in UTF-8: a row of headings, the geometry as WKT in the last column. An import
reads the same values again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.formats.formulas import guard_formulas
from app.formats.writers.columns import Table
from app.formats.writers.features import Feature
from app.formats.writers.shapes import Ring, positions_text, read_shape
from app.formats.writers.source import FeatureSource
from app.values.strict_json import Fragment, dumps

_WKT_NAMES: Final = {"Point": "POINT", "Polygon": "POLYGON", "MultiPolygon": "MULTIPOLYGON"}
# Most texts need no guard, nor the quotes that keep 007 and long ids from being read as numbers.
_PLAIN: Final = re.compile(r"[^\W\d](?:[\w:. -]*\w)?")
_QUOTED: Final = re.compile(r'[",\r\n]|^\s|\s$|^$|^[\d.:/ ]+(?:[eE][\d-]+)?$')


def write_csv(source: FeatureSource) -> Iterator[bytes]:
    """Yield a row for each feature. An empty text is quoted; a missing value is empty."""
    table = Table(source)
    yield csv_line([*(column.name for column in table.columns), "geometry"])
    for feature in source.features():
        yield _delimited_line([*map(_text_cell, table.row(feature)), _geometry_cell(feature)])


def _geometry_cell(feature: Feature) -> str:
    """The cell with the geometry. It needs no guard, as it cannot begin a formula."""
    text = "" if feature.geometry is None else write_wkt(feature.geometry)
    return f'"{text}"' if "," in text else text


def csv_line(values: Iterable[Any]) -> bytes:
    """A row in which no text can be evaluated as a formula; numbers are not changed."""
    return _delimited_line(map(_text_cell, values))


def _delimited_line(cells: Iterable[str]) -> bytes:
    return (",".join(cells) + "\r\n").encode()


def _text_cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return dumps(value).decode()
    if _PLAIN.fullmatch(value):
        return value
    text = guard_formulas(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def write_wkt(geometry: Fragment) -> str:
    """A stored geometry as well-known text (OGC 06-103r4, section 7), with all digits."""
    shape = read_shape(geometry)
    name = _WKT_NAMES[shape.type] + (" Z" if shape.has_heights else "")
    if shape.type == "Point":
        return f"{name} {_ring_text([shape.position])}"
    parts = ", ".join(f"({', '.join(map(_ring_text, part))})" for part in shape.parts)
    return f"{name} ({parts})" if shape.type == "MultiPolygon" else f"{name} {parts}"


def _ring_text(ring: Ring) -> str:
    return f"({positions_text(ring).replace(',', ' ').replace('] [', ', ')})"
