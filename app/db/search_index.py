"""Finding rows by text and by place, from an index, on both databases.

SQLite has a trigram index (FTS5) and an R*Tree beside each table, PostgreSQL has GIN over
``canopy_grams`` and GiST over ``canopy_box`` (``docs/adr/0004-search.md``). Every entry of all four
includes the owner of its row, so that no search visits the rows of other accounts. An index may
return rows that do not match, but misses none: each row that it returns is tested exactly.

The form of a statement fixes which index it uses, instead of the planner's estimates: a ``fence``
is a subquery into which the planner moves no condition from outside. The conditions have
parameters, so that each kind of statement is built once; ``text_values`` and ``box_values`` return
the values of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

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

from app.values.strict_json import dumps
from app.values.text import searchable

if TYPE_CHECKING:  # commands need no geometry
    from app.geometry import Bounds

DrivingIndex = Literal["text", "box", "ids", "key", "time", "owner"]

_TURNS = (-360.0, 0.0, 360.0)  # bounds are unwrapped: the same place has longitudes a turn apart
_TRIGRAM = 3  # characters; the text index finds no shorter needle
_MAX_TRIGRAMS = 16  # of a long needle; more would not reduce its candidates
_SIDES = ("west", "south", "east", "north")
_FAR = 1_000.0  # degrees, less than there are between the boxes of two accounts
_UPPER_HALF: ColumnElement[int] = literal_column("-4294967296")  # of a number of 64 bits
_LOWER_HALF: ColumnElement[int] = literal_column("4294967295")
_PRIVATE_USE = 0xE000  # characters for private use; three of them name the owner of an FTS5 entry


def driving_index(search: str | None, bbox: Bounds | None) -> DrivingIndex:
    """The index that finds the rows for a search and a box, either of which may be None.

    Text comes first: it selects few rows, while a box is often a whole map. The text index has no
    needles shorter than a trigram.
    """
    if search and len(searchable(search)) >= _TRIGRAM:
        return "text"
    return "box" if bbox else "owner"


def exact_tests(
    table: Table, dialect: str, sides: Sequence[str], *, search: bool, bbox: bool
) -> list[ColumnElement[bool]]:
    """The tests that a candidate has to pass: ``_contains_text`` and ``overlaps_box``."""
    tests = [_contains_text(table, dialect)] if search else []
    return [*tests, overlaps_box(table, sides)] if bbox else tests


def _contains_text(table: Table, dialect: str) -> ColumnElement[bool]:
    """Rows whose ``search_text`` contains the needle, in any case; ``%`` and ``_`` are literal."""
    position = func.strpos if dialect == "postgresql" else func.instr
    found: ColumnElement[bool] = position(table.c.search_text, bindparam("needle")) > 0
    return found


def overlaps_box(table: Table | Subquery, sides: Sequence[str]) -> ColumnElement[bool]:
    """Rows whose box touches the box of the query.

    Args:
        sides: the columns of the row's box: west, south, east, north.
    """
    columns = [table.c[side] for side in sides]
    return or_(*(_touches(columns, _bound(turn)) for turn in range(len(_TURNS))))


def candidates(
    table: Table, dialect: str, index: DrivingIndex, owner: str, sides: Sequence[str]
) -> Any:
    """Rows that an index returns, which are the only ones read. They are to be tested exactly.

    Args:
        index: any but that of ids. Where it is not that of texts or of boxes, its first column is
            ``owner``.
        owner: the column of the row's owner; its value is a parameter of the same name.
        sides: as in ``overlaps_box``.
    """
    if index not in ("text", "box"):
        names = {owner, "account_id"}
        return and_(*(table.c[name] == bindparam(name) for name in sorted(names)))
    if dialect == "postgresql":
        return (
            _named_by_gin(table, owner) if index == "text" else _named_by_gist(table, owner, sides)
        )
    find = _named_by_fts if index == "text" else _named_by_rtree
    return table.c.row.in_(find(table, owner))


def is_among_ids(
    column: ColumnElement[Any], dialect: str, parameter: str = "ids"
) -> ColumnElement[bool]:
    """Select rows whose column has one of the values of the parameter, which are ids or numbers of
    rows (``id_values``)."""
    if dialect == "postgresql":
        kind = String if isinstance(column.type, String) else BigInteger
        return column == any_(bindparam(parameter, type_=ARRAY(kind)))
    values = func.json_each(bindparam(parameter, type_=String)).table_valued("value")
    return column.in_(select(values.c.value))


def id_values(ids: Sequence[str] | Sequence[int], dialect: str) -> Any:
    """The value of the parameter of ``is_among_ids``."""
    return list(ids) if dialect == "postgresql" else dumps(list(ids)).decode()


def named_by_text(table: Table, dialect: str, owner: str) -> Select[Any]:
    """The row numbers that the text index returns; add a limit."""
    if dialect == "postgresql":
        return select(table.c.row).where(_named_by_gin(table, owner))
    return _named_by_fts(table, owner)


def named_by_box(table: Table, dialect: str, owner: str, sides: Sequence[str]) -> Any:
    """The row numbers that the box index returns; add a limit."""
    if dialect == "postgresql":
        return select(fence([table.c.row], _named_by_gist(table, owner, sides)))
    return select(_named_by_rtree(table, owner).subquery())


def named_beside_box(table: Table, dialect: str, owner: str, sides: Sequence[str]) -> Select[Any]:
    """The row numbers that the box index returns for the strips beside a box: none if the box holds
    all rows that have a place. ``box_values`` returns the parameters."""
    if dialect == "postgresql":
        west, south, east, north = _bound(1)
        boxes = (
            (-_FAR, -_FAR, west, _FAR), (east, -_FAR, _FAR, _FAR),
            (-_FAR, -_FAR, _FAR, south), (-_FAR, north, _FAR, _FAR),
        )  # fmt: skip
        has = func.canopy_box(table.c[owner], *(table.c[side] for side in sides))
        strips = (func.canopy_box(bindparam(owner), *box) for box in boxes)
        rows = (fence([table.c.row, table.c.account_id], has.op("&&")(strip)) for strip in strips)
        account: Any = bindparam("account_id")
        found = (select(each.c.row).where(each.c.account_id == account) for each in rows)
        return select(union_all(*found).subquery("beside").c.row)
    index, own = _rtree(table, owner)
    beside = (
        index.c[side] < bound if side in ("west", "south") else index.c[side] > bound
        for side, bound in zip(_SIDES, _bound(1), strict=True)
    )
    found = (select(index.c.row).where(condition, own) for condition in beside)
    return select(union_all(*found).subquery("beside").c.row)


def fence(
    columns: Sequence[ColumnElement[Any]], condition: ColumnElement[bool], *order: Any
) -> Subquery:
    """Rows for which ``condition`` holds, found by this condition alone.

    Neither planner merges a subquery that has an OFFSET with the query around it. Without it, both
    may scan the rows of an account in the order of the page and test each.

    Args:
        order: in which order the rows are read; it must be that of an index.
    """
    found = select(*columns).where(condition).order_by(*order)
    return found.offset(literal_column("0")).subquery("found")


def as_stored(table: Table, dialect: str, index: DrivingIndex) -> tuple[Any, ...]:
    """The order for a ``fence`` whose rows come from neither the text nor the box index.

    SQLite takes any index that begins with the owner, and would read the table in random order;
    its rows are stored in order of creation. PostgreSQL sorts the row locations by itself.
    """
    scans = dialect == "sqlite" and index == "owner"
    return (table.c.created_at, table.c.id) if scans else ()


def page_of(keys: Select[Any]) -> Select[Any]:
    """The page of ``keys`` that the parameters ``skipped`` and ``size`` select.

    They are subqueries, whose values PostgreSQL does not know when it plans. So it uses the index
    that has the order for every page, also without statistics, when it estimates fewer rows than
    are skipped; and one plan serves all pages.
    """
    size, skipped = (
        select(bindparam(name, type_=BigInteger)).scalar_subquery() for name in ("size", "skipped")
    )
    return keys.limit(size).offset(skipped)


def among(key: ColumnElement[Any], keys: Select[Any], dialect: str) -> ColumnElement[bool]:
    """Rows whose unique ``key`` is one of the few that ``keys`` selects.

    PostgreSQL gets them as an array, so that it looks each one up whatever number it estimates.
    """
    if dialect == "postgresql":
        return key == any_(func.array(keys.scalar_subquery(), type_=ARRAY(key.type)))
    return key.in_(keys)


def text_values(needle: str, owner: str, dialect: str) -> dict[str, Any]:
    """The parameters of ``_contains_text``, and of ``candidates`` from the text index."""
    folded = searchable(needle)
    if len(folded) < _TRIGRAM:
        return {"needle": folded}
    trigrams = _trigrams(folded)
    if dialect == "postgresql":
        return {"needle": folded, "trigrams": trigrams}
    mark = "".join(chr(_PRIVATE_USE + ord(character)) for character in owner[-3:])
    quoted = ('"' + trigram.replace('"', '""') + '"' for trigram in (*trigrams, mark))
    return {"needle": folded, "phrase": " AND ".join(quoted)}


def _trigrams(needle: str) -> list[str]:
    """Every second trigram and the last: few to look up, and every character is in one."""
    last = len(needle) - _TRIGRAM
    starts = [*range(0, last, 2), last]
    trigrams = list(dict.fromkeys(needle[start : start + _TRIGRAM] for start in starts))
    return trigrams[:: -(-len(trigrams) // _MAX_TRIGRAMS)]


def box_values(box: Bounds, owner: str, dialect: str) -> dict[str, Any]:
    """The parameters of ``overlaps_box``, and of ``candidates`` from the box index: the box, and
    the same box a turn to the west and to the east."""
    values: dict[str, Any] = {}
    for number, turn in enumerate(_TURNS):
        shifted = (box.west + turn, box.south, box.east + turn, box.north)
        values |= {f"{side}_{number}": value for side, value in zip(_SIDES, shifted, strict=True)}
    if dialect == "sqlite":
        first, second, third = map(ord, owner[-3:])
        values["mark"] = (first * 128 + second) * 128 + third + 0.5
    return values


def _index_prefix(table: Table, owner: str) -> str:
    """The prefix of the names of the indexes on SQLite. Assets have a second pair of them, by their
    account."""
    is_second = (table.name, owner) == ("assets", "account_id")
    return "account_assets" if is_second else table.name


def _named_by_fts(table: Table, owner: str) -> Select[Any]:
    name = f"{_index_prefix(table, owner)}_text"
    index = named_table(name, column("rowid", BigInteger))
    return select(index.c.rowid).where(text(f"{name} MATCH :phrase"))


def _named_by_rtree(table: Table, owner: str) -> Any:
    index, own = _rtree(table, owner)
    sides = [index.c[side] for side in _SIDES]
    found = (select(index.c.row).where(_touches(sides, _bound(turn)), own) for turn in range(3))
    return union_all(*found)


def _rtree(table: Table, owner: str) -> tuple[Any, ColumnElement[bool]]:
    """Return (the index, the condition that an entry is the owner's). An owner's mark is the
    interval between two whole numbers; its middle is in no other."""
    names = ("row", *_SIDES, "mark_from", "mark_to")
    index = named_table(
        f"{_index_prefix(table, owner)}_box", *(column(name, Double) for name in names)
    )
    mark: Any = bindparam("mark", type_=Double)
    return index, and_(index.c.mark_from <= mark, index.c.mark_to >= mark)


def _named_by_gin(table: Table, owner: str) -> ColumnElement[bool]:
    """The keys to look up come from a subquery, so that one plan serves all needles."""
    has = func.canopy_grams(table.c[owner], table.c.search_text)
    trigram = func.unnest(bindparam("trigrams", type_=ARRAY(String))).column_valued("trigram")
    upper = func.hashtextextended(bindparam(owner, type_=String), 0).op("&")(_UPPER_HALF)
    lower = func.hashtextextended(trigram, 0).op("&")(_LOWER_HALF)
    return has.op("@>")(func.array(select(upper.op("|")(lower)).scalar_subquery()))


def _named_by_gist(table: Table, owner: str, sides: Sequence[str]) -> ColumnElement[bool]:
    has = func.canopy_box(table.c[owner], *(table.c[side] for side in sides))
    boxes = (func.canopy_box(bindparam(owner), *_bound(turn)) for turn in range(len(_TURNS)))
    return or_(*(has.op("&&")(box) for box in boxes))


def _bound(turn: int) -> list[Any]:
    """The bound parameters of the query's box, shifted by a turn."""
    return [bindparam(f"{side}_{turn}", type_=Double) for side in _SIDES]


def _touches(columns: Sequence[Any], box: Sequence[Any]) -> ColumnElement[bool]:
    west, south, east, north = columns
    return and_(west <= box[2], east >= box[0], south <= box[3], north >= box[1])
