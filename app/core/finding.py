"""Finding rows by text and by place, from an index, on both databases.

SQLite has a trigram index (FTS5) and an R*Tree beside each table; PostgreSQL has GIN over
``canopy_grams`` and GiST over boxes (``docs/adr/0004-search.md``). An index may say too much, never
too little: each condition repeats the exact test on the candidates. The conditions have parameters,
so that a statement is built once for each shape of a question; ``text_values`` and ``box_values``
give their values.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Table,
    and_,
    bindparam,
    column,
    func,
    or_,
    select,
    text,
)
from sqlalchemy import table as named_table

from app.core.geometry import Bounds
from app.core.text import searchable

_TURNS = (-360.0, 0.0, 360.0)  # bounds are unwrapped: the same place has longitudes a turn apart
_GRAM = 3  # a trigram index has no answer for shorter needles
_SIDES = ("west", "south", "east", "north")


def contains_text(table: Table, dialect: str, *, short: bool) -> ColumnElement[bool]:
    """Rows whose ``search_text`` contains the needle, in any case; ``%`` and ``_`` are plain.

    Args:
        short: whether the needle is shorter than a trigram (``is_short``); SQLite then reads
            through the account's rows.
    """
    needle: Any = bindparam("needle")
    if dialect == "postgresql":
        grams = func.canopy_grams(table.c.account_id, table.c.search_text)
        wanted = func.canopy_needle(bindparam("account_id"), needle)
        return and_(grams.op("@>")(wanted), func.strpos(table.c.search_text, needle) > 0)
    exact = func.instr(table.c.search_text, needle) > 0
    if short:
        return exact
    index = named_table(f"{table.name}_text", column("rowid", BigInteger))
    found = select(index.c.rowid).where(text(f"{table.name}_text MATCH :phrase"))
    return and_(table.c.row.in_(found), exact)


def is_short(needle: str) -> bool:
    return len(searchable(needle)) < _GRAM


def text_values(needle: str, dialect: str) -> dict[str, Any]:
    """The parameters of ``contains_text``."""
    folded = searchable(needle)
    if dialect == "postgresql" or len(folded) < _GRAM:
        return {"needle": folded}
    return {"needle": folded, "phrase": '"' + folded.replace('"', '""') + '"'}


def overlaps_box(table: Table, dialect: str, *names: str) -> ColumnElement[bool]:
    """Rows whose box touches the box asked for.

    Args:
        names: the columns of the row's box: west, south, east, north.
    """
    columns = [table.c[name] for name in names]
    asked = [[_side(side, turn) for side in _SIDES] for turn in range(len(_TURNS))]
    exact = or_(*(_overlap(columns, box) for box in asked))
    if dialect == "postgresql":  # whose boxes touch a millionth of a degree apart
        return and_(or_(*(_pg_box(*columns).op("&&")(_pg_box(*box)) for box in asked)), exact)
    index = named_table(
        f"{table.name}_box", *(column(name, BigInteger) for name in ("row", *_SIDES))
    )
    sides = [index.c[side] for side in _SIDES]
    found = [table.c.row.in_(select(index.c.row).where(_overlap(sides, box))) for box in asked]
    return and_(or_(*found), exact)


def box_values(box: Bounds) -> dict[str, float]:
    """The parameters of ``overlaps_box``: the box, and the same a turn to either side."""
    values: dict[str, float] = {}
    for number, turn in enumerate(_TURNS):
        shifted = (box.west + turn, box.south, box.east + turn, box.north)
        values |= {f"{side}_{number}": value for side, value in zip(_SIDES, shifted, strict=True)}
    return values


def _side(side: str, turn: int) -> Any:
    return bindparam(f"{side}_{turn}", type_=Double)


def _overlap(columns: Any, box: Any) -> ColumnElement[bool]:
    west, south, east, north = columns
    return and_(west <= box[2], east >= box[0], south <= box[3], north >= box[1])


def _pg_box(west: Any, south: Any, east: Any, north: Any) -> ColumnElement[Any]:
    return func.box(func.point(west, south), func.point(east, north))
