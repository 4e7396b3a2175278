"""The lists of accounts and of people: searching, sorting and paging."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import is_among_ids, page_of
from app.pages.filters import list_address
from app.policy.instance import LISTED
from app.policy.request_limits import PAGE_MAX, SEARCH_LENGTH
from app.values.clock import format_optional_time
from app.values.folding import fold_text
from app.values.text import slugify, storage_problem

_NOTHING: Final = "\uffff"  # a noncharacter, which no slug has


@dataclass(frozen=True, eq=False)
class RecordList:
    """A list of accounts or of people.

    Attributes:
        path: the path of the page.
        model: its records.
        rows: selects what a record needs.
        orders: (label, columns) of the orders by their names in the address, the default first.
        matches: returns the condition of a search for a dialect.
        records: makes records from rows.
    """

    path: str
    model: type[Any]
    rows: Select[Any]
    orders: Mapping[str, tuple[str, tuple[ColumnElement[Any], ...]]]
    matches: Callable[[str], ColumnElement[bool]]
    records: Callable[[list[Any]], list[dict[str, Any]]]


class ListFilters(NamedTuple):
    """The filters of a list; ``sort`` is the name of an order."""

    listed: RecordList
    search: str
    sort: str
    page: int

    @property
    def path(self) -> str:
        return self.listed.path

    @property
    def sorts(self) -> dict[str, str]:
        """The labels of the orders, by their names."""
        return {name: label for name, (label, _) in self.listed.orders.items()}

    def address(self, **others: Any) -> str:
        """Return the address of the list with these filters, except for ``others``."""
        values = {"search": self.search, "sort": self.sort, "page": self.page} | others
        return list_address(self.path, values, {"sort": next(iter(self.listed.orders)), "page": 1})

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of statements for the search; empty without one."""
        if not self.search:
            return {}
        return {
            "typed": self.search,
            "lowered": self.search.lower(),
            "folded": fold_text(self.search),
            "slug": slugify(self.search) or _NOTHING,
        }


class Listed(NamedTuple):
    """One page of a list."""

    records: list[dict[str, Any]]
    total: int
    page: int
    pages: int


def read_filters(listed: RecordList, arguments: Mapping[str, str]) -> ListFilters:
    """Read the filters of an address, without those that are invalid."""
    search = arguments.get("search", "").strip()[:SEARCH_LENGTH]
    sort, page = arguments.get("sort", ""), arguments.get("page", "")
    is_number = page.isascii() and page.isdigit() and len(page) <= len(str(PAGE_MAX))
    return ListFilters(
        listed,
        "" if storage_problem(search) else search,
        sort if sort in listed.orders else next(iter(listed.orders)),
        min(max(int(page), 1), PAGE_MAX) if is_number else 1,
    )


def read_list_page(filters: ListFilters) -> Listed:
    """Read the requested page, or the last one if there are fewer."""
    listed, dialect = filters.listed, reading_engine().dialect.name
    count, page = _list_queries(listed, dialect, bool(filters.search), filters.sort)
    total = int(count.scalar(**filters.parameters))
    pages = max(1, math.ceil(total / LISTED))
    number = min(filters.page, pages)
    span = {"size": LISTED, "skipped": (number - 1) * LISTED}
    return Listed(listed.records(page.all(**filters.parameters, **span)), total, number, pages)


@cache
def _list_queries(
    listed: RecordList, dialect: str, is_search: bool, sort: str
) -> tuple[CompiledQuery, CompiledQuery]:
    """Return the statement that counts, and that of a page."""
    _, columns = listed.orders[sort]
    count, rows = select(func.count()).select_from(listed.model), listed.rows.order_by(*columns)
    if is_search:
        count, rows = (query.where(listed.matches(dialect)) for query in (count, rows))
    return CompiledQuery(count), CompiledQuery(page_of(rows))


def last_use(owner: Any, used_at: Any) -> CompiledQuery:
    """Select when accounts or people were last active by one of their tables, for ``last_uses``."""
    rows = select(owner.expression, func.max(used_at.expression).label("used_at"))
    return CompiledQuery(rows.where(is_among_ids(owner.expression)).group_by(owner.expression))


def last_uses(ids: list[str], queries: Iterable[CompiledQuery]) -> dict[str, str]:
    """Return when accounts or people were last active, by id, without those that never were."""
    used_at = dict[str, str]()
    for query in queries:
        for owner_id, moment in query.tuples(ids=ids):
            used_at[owner_id] = max(used_at.get(owner_id, ""), format_optional_time(moment) or "")
    return {owner_id: moment for owner_id, moment in used_at.items() if moment}


def contains_in_any_case(column: ColumnElement[str], dialect: str) -> ColumnElement[bool]:
    """Return the condition that a text contains the search, in any case. SQLite knows only the case
    of ASCII, so that it finds other letters as they were typed."""
    lowered = contains_search(func.lower(column), "lowered", dialect)
    return lowered | contains_search(column, "typed", dialect)


def contains_search(
    column: ColumnElement[str], parameter: str, dialect: str
) -> ColumnElement[bool]:
    """Return the condition that a text contains one of ``ListFilters.parameters``."""
    position = func.strpos if dialect == "postgresql" else func.instr
    condition: ColumnElement[bool] = position(column, bindparam(parameter)) > 0
    return condition
