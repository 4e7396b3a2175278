"""Finding rows by text and by place, from an index, on both databases.

SQLite has a trigram index (FTS5) and an R*Tree beside each table, PostgreSQL has GIN over
``canopy_grams`` and GiST over ``canopy_box`` (``docs/adr/0004-search.md``). Every entry of all four
says whose row it is, so that nobody searches through the rows of others. An index may say too much,
never too little: the exact test follows on the rows that it names.

Which index a statement uses is fixed by its form, not left to what the planner guesses: a
``fence`` is a subquery that no condition from outside can get into. The conditions have parameters,
so that a statement is built once for each kind of question; ``text_values`` and ``box_values`` give
their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Select,
    String,
    Subquery,
    Table,
    and_,
    any_,
    bindparam,
    column,
    func,
    literal_column,
    or_,
    select,
    text,
    union_all,
)
from sqlalchemy import table as named_table
from sqlalchemy.dialects.postgresql import ARRAY

from app.geometry import Bounds
from app.values.text import searchable

Lead = Literal["text", "box", "owner"]

_TURNS = (-360.0, 0.0, 360.0)  # bounds are unwrapped: the same place has longitudes a turn apart
_GRAM = 3  # a trigram index has no answer for shorter needles
_MOST_GRAMS = 16  # of a long needle; more would not make its candidates fewer
_SIDES = ("west", "south", "east", "north")
_UPPER_HALF: ColumnElement[int] = literal_column("-4294967296")  # of a number of 64 bits
_LOWER_HALF: ColumnElement[int] = literal_column("4294967295")
_PRIVATE = 0xE000  # characters for private use; three of them say whose row an entry of FTS5 is


def lead(search: str | None, bbox: Bounds | None) -> Lead:
    """What finds the rows for a search and a box, either of which may be None.

    Text comes first: words tell rows apart, while a box is often the whole of a map. Needles
    shorter than a trigram are in no index.
    """
    if search and len(searchable(search)) >= _GRAM:
        return "text"
    return "box" if bbox else "owner"


def exact_tests(
    table: Table, dialect: str, sides: Sequence[str], *, search: bool, bbox: bool
) -> list[ColumnElement[bool]]:
    """What decides of a candidate: ``contains_text`` and ``overlaps_box``, as far as asked for."""
    tests = [contains_text(table, dialect)] if search else []
    return [*tests, overlaps_box(table, sides)] if bbox else tests


def contains_text(table: Table, dialect: str) -> ColumnElement[bool]:
    """Rows whose ``search_text`` contains the needle, in any case; ``%`` and ``_`` are plain."""
    position = func.strpos if dialect == "postgresql" else func.instr
    found: ColumnElement[bool] = position(table.c.search_text, bindparam("needle")) > 0
    return found


def overlaps_box(table: Table, sides: Sequence[str]) -> ColumnElement[bool]:
    """Rows whose box touches the box asked for.

    Args:
        sides: the columns of the row's box: west, south, east, north.
    """
    columns = [table.c[side] for side in sides]
    return or_(*(_touches(columns, _asked(turn)) for turn in range(len(_TURNS))))


def candidates(table: Table, dialect: str, lead: Lead, owner: str, sides: Sequence[str]) -> Any:
    """Rows that an index names: those to test exactly, and no others are read.

    Args:
        lead: the index: that of texts, that of boxes, or (for what both cannot find) those whose
            first column is ``owner``.
        owner: the column that says whose row it is; its value is a parameter of the same name.
        sides: as in ``overlaps_box``.
    """
    if lead == "owner":
        names = {owner, "account_id"}
        return and_(*(table.c[name] == bindparam(name) for name in sorted(names)))
    if dialect == "postgresql":
        return (
            _named_by_gin(table, owner) if lead == "text" else _named_by_gist(table, owner, sides)
        )
    return table.c.row.in_(_named_by_fts(table) if lead == "text" else _named_by_rtree(table))


def named_by_text(table: Table, dialect: str, owner: str) -> Select[Any]:
    """The row numbers that the index of texts names, as many as one asks for."""
    if dialect == "postgresql":
        return select(table.c.row).where(_named_by_gin(table, owner))
    return _named_by_fts(table)


def fence(
    columns: Sequence[ColumnElement[Any]], condition: ColumnElement[bool], *order: Any
) -> Subquery:
    """Rows for which ``condition`` holds, found by nothing but this condition.

    Neither planner mixes a subquery that has an OFFSET with what is around it. Without it, both
    are tempted to walk through the rows of an account in the order asked for and to test each.

    Args:
        order: in which order the rows are met; it must be that of an index.
    """
    found = select(*columns).where(condition).order_by(*order)
    return found.offset(literal_column("0")).subquery("found")


def as_stored(table: Table, dialect: str, lead: Lead) -> tuple[Any, ...]:
    """The order for a ``fence`` whose rows are not named by an index of texts or boxes.

    SQLite goes by whichever index begins with the owner, and would jump about in the table; rows
    lie in it as they were made. PostgreSQL sorts their places by itself.
    """
    walks = dialect == "sqlite" and lead == "owner"
    return (table.c.created_at, table.c.id) if walks else ()


def page_of(keys: Select[Any]) -> Select[Any]:
    """The part of ``keys`` that the parameters ``skipped`` and ``size`` say.

    They are subqueries, which PostgreSQL does not look into when it plans: it takes the index that
    has the order for every page, also when it has no statistics yet and believes that the account
    has fewer rows than are skipped. And having no reason to plan anew for each page, it does not.
    """
    size, skipped = (
        select(bindparam(name, type_=BigInteger)).scalar_subquery() for name in ("size", "skipped")
    )
    return keys.limit(size).offset(skipped)


def among(key: ColumnElement[Any], keys: Select[Any], dialect: str) -> ColumnElement[bool]:
    """Rows whose unique ``key`` is one of the few that ``keys`` selects.

    PostgreSQL gets them as an array, so that it looks each up, however many it expects.
    """
    if dialect == "postgresql":
        return key == any_(func.array(keys.scalar_subquery(), type_=ARRAY(key.type)))
    return key.in_(keys)


def text_values(needle: str, owner: str, dialect: str) -> dict[str, Any]:
    """The parameters of ``contains_text``, and of ``candidates`` led by text."""
    folded = searchable(needle)
    if len(folded) < _GRAM:
        return {"needle": folded}
    grams = _grams(folded)
    if dialect == "postgresql":
        return {"needle": folded, "grams": grams}
    mark = "".join(chr(_PRIVATE + ord(character)) for character in owner[-3:])
    quoted = ('"' + gram.replace('"', '""') + '"' for gram in (*grams, mark))
    return {"needle": folded, "phrase": " AND ".join(quoted)}


def _grams(needle: str) -> list[str]:
    """Every second trigram and the last: few to look up, and no two neighbours are left out."""
    last = len(needle) - _GRAM
    places = [*range(0, last, 2), last]
    grams = list(dict.fromkeys(needle[place : place + _GRAM] for place in places))
    return grams[:: -(-len(grams) // _MOST_GRAMS)]


def box_values(box: Bounds, owner: str, dialect: str) -> dict[str, Any]:
    """The parameters of ``overlaps_box``, and of ``candidates`` led by boxes: the box, and the
    same a turn to either side."""
    values: dict[str, Any] = {}
    for number, turn in enumerate(_TURNS):
        shifted = (box.west + turn, box.south, box.east + turn, box.north)
        values |= {f"{side}_{number}": value for side, value in zip(_SIDES, shifted, strict=True)}
    if dialect == "sqlite":
        first, second, third = map(ord, owner[-3:])
        values["mark"] = (first * 128 + second) * 128 + third + 0.5
    return values


def _named_by_fts(table: Table) -> Select[Any]:
    index = named_table(f"{table.name}_text", column("rowid", BigInteger))
    return select(index.c.rowid).where(text(f"{table.name}_text MATCH :phrase"))


def _named_by_rtree(table: Table) -> Any:
    """Marks are intervals from one whole number to the next; the middle of one is in no other."""
    names = ("row", *_SIDES, "mark_from", "mark_to")
    index = named_table(f"{table.name}_box", *(column(name, Double) for name in names))
    mark: Any = bindparam("mark", type_=Double)
    own = and_(index.c.mark_from <= mark, index.c.mark_to >= mark)
    sides = [index.c[side] for side in _SIDES]
    found = (select(index.c.row).where(_touches(sides, _asked(turn)), own) for turn in range(3))
    return union_all(*found)


def _named_by_gin(table: Table, owner: str) -> ColumnElement[bool]:
    """What is looked up comes from a subquery, so that a plan can be kept for all needles."""
    has = func.canopy_grams(table.c[owner], table.c.search_text)
    gram = func.unnest(bindparam("grams", type_=ARRAY(String))).column_valued("gram")
    upper = func.hashtextextended(bindparam(owner, type_=String), 0).op("&")(_UPPER_HALF)
    lower = func.hashtextextended(gram, 0).op("&")(_LOWER_HALF)
    return has.op("@>")(func.array(select(upper.op("|")(lower)).scalar_subquery()))


def _named_by_gist(table: Table, owner: str, sides: Sequence[str]) -> ColumnElement[bool]:
    has = func.canopy_box(table.c[owner], *(table.c[side] for side in sides))
    asked = (func.canopy_box(bindparam(owner), *_asked(turn)) for turn in range(len(_TURNS)))
    return or_(*(has.op("&&")(box) for box in asked))


def _asked(turn: int) -> list[Any]:
    return [bindparam(f"{side}_{turn}", type_=Double) for side in _SIDES]


def _touches(columns: Sequence[Any], box: Sequence[Any]) -> ColumnElement[bool]:
    west, south, east, north = columns
    return and_(west <= box[2], east >= box[0], south <= box[3], north >= box[1])
