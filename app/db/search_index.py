"""Finding rows by text and by place with indexes, on both databases.

SQLite has a trigram index (FTS5) and an R*Tree for each table, PostgreSQL has GIN over
``canopy_grams`` and GiST over ``canopy_box`` (``docs/adr/0004-search.md``). Every entry includes
the owner of its row, so that no search visits rows of other accounts. An index may return rows that
do not match, but misses none: each returned row is tested exactly.

The form of a statement, and not the planner's estimates, decides which index it uses:
``fenced_rows`` makes a subquery into which the planner moves no condition from outside. The
conditions have parameters, so that each kind of statement is built once; ``text_values`` and
``box_values`` return their values.
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
    TypeDecorator,
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
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from app.values.folding import searchable_text
from app.values.strict_json import dumps

if TYPE_CHECKING:  # commands need no geometry
    from app.geometry import Bounds

DrivingIndex = Literal["text", "box", "ids", "key", "range", "owner"]

_TURNS = (-360.0, 0.0, 360.0)  # bounds are unwrapped: a place has longitudes a turn apart
_TRIGRAM = 3  # characters; the text index finds no shorter needle
_MAX_TRIGRAMS = 16  # for a long needle; more would not reduce its candidates
_SIDES = ("west", "south", "east", "north")
_FAR = 1_000.0  # degrees; boxes of two accounts are further apart
_UPPER_HALF: ColumnElement[int] = literal_column("-4294967296")  # masks for 64-bit numbers
_LOWER_HALF: ColumnElement[int] = literal_column("4294967295")
_PRIVATE_USE = 0xE000  # private characters, of which three name the owner of an FTS5 entry


def driving_index(search: str | None, bbox: Bounds | None) -> DrivingIndex:
    """Return the index for a search and a box, each of which may be None.

    The text index comes first, as a text selects few rows, and a box is often a whole map. It
    cannot find needles shorter than a trigram.
    """
    if search and len(searchable_text(search)) >= _TRIGRAM:
        return "text"
    return "box" if bbox else "owner"


def exact_tests(
    table: Table, dialect: str, sides: Sequence[str], *, search: bool, bbox: bool
) -> list[ColumnElement[bool]]:
    """Return the tests for candidates: ``_contains_text`` and ``overlaps_box``."""
    tests = [_contains_text(table, dialect)] if search else []
    return [*tests, overlaps_box(table, sides)] if bbox else tests


def _contains_text(table: Table, dialect: str) -> ColumnElement[bool]:
    """True for rows whose ``search_text`` contains the needle, in which ``%`` and ``_`` are
    literal."""
    position = func.strpos if dialect == "postgresql" else func.instr
    contains: ColumnElement[bool] = position(table.c.search_text, bindparam("needle")) > 0
    return contains


def overlaps_box(table: Table | Subquery, sides: Sequence[str]) -> ColumnElement[bool]:
    """True for rows whose box touches the box of the query.

    Args:
        sides: the columns of the row's box: west, south, east, north.
    """
    columns = [table.c[side] for side in sides]
    return or_(*(_box_condition(columns, _box_parameters(turn)) for turn in range(len(_TURNS))))


def indexed_candidates(
    table: Table, dialect: str, index: DrivingIndex, owner: str, sides: Sequence[str]
) -> Any:
    """True for rows that an index returns. They still have to be tested exactly.

    Args:
        index: any but ``ids``. Unless it is ``text`` or ``box``, its first column is ``owner``.
        owner: the column of the row's owner. Its value is a parameter of the same name.
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


class _Ids(TypeDecorator[Any]):
    """Ids or row numbers as one parameter: an array, on SQLite of JSON."""

    impl = String
    cache_ok = True

    def __init__(self, is_text: bool) -> None:
        super().__init__()
        self.is_text = is_text

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String())
        return dialect.type_descriptor(ARRAY(String if self.is_text else BigInteger))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return dumps(list(value)).decode() if dialect.name == "sqlite" else list(value)


class _AmongIds(FunctionElement[bool]):
    """A condition. It has no type: one of a Boolean is compared with 1 on SQLite."""

    inherit_cache = True


@compiles(_AmongIds, "postgresql")
def _in_array(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = element.clauses
    return compiler.process(column == any_(ids), **options)


@compiles(_AmongIds, "sqlite")
def _in_json(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = element.clauses
    values = func.json_each(ids).table_valued("value")
    return compiler.process(column.in_(select(values.c.value)), **options)


def is_among_ids(column: ColumnElement[Any], parameter: str = "ids") -> ColumnElement[bool]:
    """True for rows whose column has one of the ids or row numbers that the parameter lists."""
    return _AmongIds(column, bindparam(parameter, type_=_Ids(isinstance(column.type, String))))


def named_by_text(table: Table, dialect: str, owner: str) -> Select[Any]:
    """Select the row numbers that the text index returns. Add a limit."""
    if dialect == "postgresql":
        return select(table.c.row).where(_named_by_gin(table, owner))
    return _named_by_fts(table, owner)


def named_by_box(table: Table, dialect: str, owner: str, sides: Sequence[str]) -> Any:
    """Select the row numbers that the box index returns. Add a limit."""
    if dialect == "postgresql":
        return select(fenced_rows([table.c.row], _named_by_gist(table, owner, sides)))
    return select(_named_by_rtree(table, owner).subquery())


def named_beside_box(table: Table, dialect: str, owner: str, sides: Sequence[str]) -> Select[Any]:
    """Select the row numbers that the box index returns for the strips around a box: none if the
    box contains all rows with a place. ``box_values`` returns the parameters."""
    if dialect == "postgresql":
        west, south, east, north = _box_parameters(1)
        boxes = (
            (-_FAR, -_FAR, west, _FAR), (east, -_FAR, _FAR, _FAR),
            (-_FAR, -_FAR, _FAR, south), (-_FAR, north, _FAR, _FAR),
        )  # fmt: skip
        has = func.canopy_box(table.c[owner], *(table.c[side] for side in sides))
        strips = (func.canopy_box(bindparam(owner), *box) for box in boxes)
        rows = (
            fenced_rows([table.c.row, table.c.account_id], has.op("&&")(strip)) for strip in strips
        )
        account: Any = bindparam("account_id")
        numbers = (select(strip.c.row).where(strip.c.account_id == account) for strip in rows)
        return select(union_all(*numbers).subquery("beside").c.row)
    index, is_owners = _rtree_of_owner(table, owner)
    beside = (
        index.c[side] < bound if side in ("west", "south") else index.c[side] > bound
        for side, bound in zip(_SIDES, _box_parameters(1), strict=True)
    )
    numbers = (select(index.c.row).where(condition, is_owners) for condition in beside)
    return select(union_all(*numbers).subquery("beside").c.row)


def fenced_rows(
    columns: Sequence[ColumnElement[Any]], condition: ColumnElement[bool], *order: Any
) -> Subquery:
    """Return a subquery of the rows for which ``condition`` holds, found by this condition alone.

    Neither planner merges a subquery that has an OFFSET with the query around it. Otherwise both
    may scan the rows of an account in the order of the page and test each.

    Args:
        order: the order in which the rows are read, which an index must have.
    """
    rows = select(*columns).where(condition).order_by(*order)
    return rows.offset(literal_column("0")).subquery("found")


def as_stored(table: Table, dialect: str, index: DrivingIndex) -> tuple[Any, ...]:
    """Return the order for ``fenced_rows`` that come from neither the text nor the box index.

    SQLite takes any index that begins with the owner, and would read the table in random order; its
    rows are stored in order of creation. PostgreSQL sorts the row locations by itself.
    """
    scans = dialect == "sqlite" and index == "owner"
    return (table.c.created_at, table.c.id) if scans else ()


def page_of(keys: Select[Any]) -> Select[Any]:
    """Return the page of ``keys`` that the parameters ``skipped`` and ``size`` select.

    They are subqueries, whose values PostgreSQL does not know when it plans. So one plan serves all
    pages, and it uses the index with the order for each of them, even if without statistics it
    estimates fewer rows than are skipped.
    """
    size, skipped = (
        select(bindparam(name, type_=BigInteger)).scalar_subquery() for name in ("size", "skipped")
    )
    return keys.limit(size).offset(skipped)


class _KeyAmong(FunctionElement[bool]):
    """A condition, like ``_AmongIds``."""

    inherit_cache = True


@compiles(_KeyAmong, "postgresql")
def _in_array_of_keys(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    key, keys = element.clauses
    return compiler.process(key == any_(func.array(keys, type_=ARRAY(key.type))), **options)


@compiles(_KeyAmong, "sqlite")
def _in_keys(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    key, keys = element.clauses
    return compiler.process(key.in_(keys), **options)


def key_among(key: ColumnElement[Any], keys: Select[Any]) -> ColumnElement[bool]:
    """True for rows whose unique ``key`` is one of the few that ``keys`` selects.

    PostgreSQL gets them as an array, so that it looks up each, however many rows it expects.
    """
    return _KeyAmong(key, keys.scalar_subquery())


def text_values(needle: str, owner: str, dialect: str) -> dict[str, Any]:
    """Return the parameters of ``_contains_text`` and, for the text index, of
    ``indexed_candidates``."""
    folded = searchable_text(needle)
    if len(folded) < _TRIGRAM:
        return {"needle": folded}
    trigrams = _few_trigrams(folded)
    if dialect == "postgresql":
        return {"needle": folded, "trigrams": trigrams}
    mark = "".join(chr(_PRIVATE_USE + ord(character)) for character in owner[-3:])
    quoted = ('"' + trigram.replace('"', '""') + '"' for trigram in (*trigrams, mark))
    return {"needle": folded, "phrase": " AND ".join(quoted)}


def _few_trigrams(needle: str) -> list[str]:
    """Return every second trigram and the last: these are few, and have every character."""
    last = len(needle) - _TRIGRAM
    starts = [*range(0, last, 2), last]
    trigrams = list(dict.fromkeys(needle[start : start + _TRIGRAM] for start in starts))
    return trigrams[:: -(-len(trigrams) // _MAX_TRIGRAMS)]


def box_values(box: Bounds, owner: str, dialect: str) -> dict[str, Any]:
    """Return the parameters of ``overlaps_box``, and of ``indexed_candidates`` from the box index:
    the box, and the same box a turn to the west and to the east."""
    values: dict[str, Any] = {}
    for number, turn in enumerate(_TURNS):
        shifted = (box.west + turn, box.south, box.east + turn, box.north)
        values |= {f"{side}_{number}": value for side, value in zip(_SIDES, shifted, strict=True)}
    if dialect == "sqlite":
        first, second, third = map(ord, owner[-3:])
        values["mark"] = (first * 128 + second) * 128 + third + 0.5
    return values


def _index_prefix(table: Table, owner: str) -> str:
    """Return the prefix of the names of SQLite's indexes. Assets have a second pair, by account."""
    is_second = (table.name, owner) == ("assets", "account_id")
    return "account_assets" if is_second else table.name


def _named_by_fts(table: Table, owner: str) -> Select[Any]:
    name = f"{_index_prefix(table, owner)}_text"
    index = named_table(name, column("rowid", BigInteger))
    return select(index.c.rowid).where(text(f"{name} MATCH :phrase"))


def _named_by_rtree(table: Table, owner: str) -> Any:
    index, is_owners = _rtree_of_owner(table, owner)
    sides = [index.c[side] for side in _SIDES]
    rows = select(index.c.row).where(is_owners)
    return union_all(
        *(rows.where(_box_condition(sides, _box_parameters(turn))) for turn in range(len(_TURNS)))
    )


def _rtree_of_owner(table: Table, owner: str) -> tuple[Any, ColumnElement[bool]]:
    """Return (the index, the condition that an entry is the owner's). An owner's mark is an
    interval between two whole numbers, whose middle is in no other interval."""
    names = ("row", *_SIDES, "mark_from", "mark_to")
    index = named_table(
        f"{_index_prefix(table, owner)}_box", *(column(name, Double) for name in names)
    )
    mark: Any = bindparam("mark", type_=Double)
    return index, and_(index.c.mark_from <= mark, index.c.mark_to >= mark)


def _named_by_gin(table: Table, owner: str) -> ColumnElement[bool]:
    """True for candidates of the text index. The keys come from a subquery, so that one plan serves
    all needles."""
    has = func.canopy_grams(table.c[owner], table.c.search_text)
    trigram = func.unnest(bindparam("trigrams", type_=ARRAY(String))).column_valued("trigram")
    upper = func.hashtextextended(bindparam(owner, type_=String), 0).op("&")(_UPPER_HALF)
    lower = func.hashtextextended(trigram, 0).op("&")(_LOWER_HALF)
    return has.op("@>")(func.array(select(upper.op("|")(lower)).scalar_subquery()))


def _named_by_gist(table: Table, owner: str, sides: Sequence[str]) -> ColumnElement[bool]:
    has = func.canopy_box(table.c[owner], *(table.c[side] for side in sides))
    boxes = (
        func.canopy_box(bindparam(owner), *_box_parameters(turn)) for turn in range(len(_TURNS))
    )
    return or_(*(has.op("&&")(box) for box in boxes))


def _box_parameters(turn: int) -> list[Any]:
    """Return the parameters of the query's box, shifted by a turn."""
    return [bindparam(f"{side}_{turn}", type_=Double) for side in _SIDES]


def _box_condition(columns: Sequence[Any], box: Sequence[Any]) -> ColumnElement[bool]:
    west, south, east, north = columns
    return and_(west <= box[2], east >= box[0], south <= box[3], north >= box[1])
