"""Finding rows by text and by place, from an index, on both databases.

SQLite has a trigram index (FTS5) and an R*Tree beside each table; PostgreSQL has GIN over
``canopy_grams`` and GiST over boxes (``docs/adr/0004-search.md``). An index may say too much, never
too little: each condition repeats the exact test on the candidates.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Table, and_, column, func, literal, or_, select, text
from sqlalchemy import table as named_table

from app.core.geometry import Bounds
from app.core.text import fold

_TURNS = (-360.0, 0.0, 360.0)  # bounds are unwrapped: the same place has longitudes a turn apart


def contains_text(table: Table, account_id: str, needle: str, dialect: str) -> ColumnElement[bool]:
    """Rows whose ``search_text`` contains ``needle``, in any case; ``%`` and ``_`` are plain."""
    folded = fold(needle)
    exact = func.instr(table.c.search_text, folded) > 0
    if dialect == "postgresql":
        exact = func.strpos(table.c.search_text, folded) > 0
        grams = func.canopy_grams(table.c.account_id, table.c.search_text)
        return and_(grams.op("@>")(func.canopy_needle(account_id, folded)), exact)
    if len(folded) < 3:  # shorter than a trigram: read through the account's rows
        return exact
    phrase = '"' + folded.replace('"', '""') + '"'
    index = named_table(f"{table.name}_text", column("rowid"), column("search_text"))
    matches = (
        select(index.c.rowid).where(text(f"{table.name}_text MATCH :phrase")).params(phrase=phrase)
    )
    return and_(table.c.row.in_(matches), exact)


def overlaps_box(
    table: Table, box: Bounds, dialect: str, west: str, south: str, east: str, north: str
) -> ColumnElement[bool]:
    """Rows whose box touches ``box``; the four names are the columns of the row's box."""
    columns = (table.c[west], table.c[south], table.c[east], table.c[north])
    turned = [Bounds(box.west + turn, box.south, box.east + turn, box.north) for turn in _TURNS]
    exact = or_(*(_overlap(columns, each) for each in turned))
    if dialect == "postgresql":
        indexed = _pg_box(*columns)
        return or_(*(indexed.op("&&")(_pg_box(*map(literal, each))) for each in turned))
    index = named_table(
        f"{table.name}_box", column("row"), *map(column, ("west", "east", "south", "north"))
    )
    c = index.c
    candidates = [
        select(c.row).where(_overlap((c.west, c.south, c.east, c.north), each)) for each in turned
    ]
    return and_(or_(*(table.c.row.in_(each) for each in candidates)), exact)


def _overlap(columns: Any, box: Bounds) -> ColumnElement[bool]:
    west, south, east, north = columns
    return and_(west <= box.east, east >= box.west, south <= box.north, north >= box.south)


def _pg_box(west: Any, south: Any, east: Any, north: Any) -> ColumnElement[Any]:
    return func.box(func.point(west, south), func.point(east, north))
