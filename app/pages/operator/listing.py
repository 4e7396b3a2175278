"""The lists of accounts and of people: searching, sorting and paging."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import is_among_ids
from app.pages.filters import list_address
from app.policy.instance import LISTED
from app.policy.request_limits import PAGE_MAX, SEARCH_LENGTH
from app.values.clock import format_optional_time
from app.values.folding import fold_text
from app.values.text import slugify, storage_problem

_NOTHING: Final = "\uffff"  # a noncharacter, which no slug has


class ListFilters(NamedTuple):
    """The filters of a list. ``sorts`` are the labels of its orders, by their names in the address,
    the default first; ``sort`` is one of these names."""

    path: str
    sorts: Mapping[str, str]
    search: str
    sort: str
    page: int

    def address(self, **others: Any) -> str:
        """Return the address of the list with these filters, except for ``others``."""
        values = {"search": self.search, "sort": self.sort, "page": self.page} | others
        return list_address(self.path, values, {"sort": next(iter(self.sorts)), "page": 1})

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


def read_filters(path: str, sorts: Mapping[str, str], arguments: Mapping[str, str]) -> ListFilters:
    """Read the filters of an address, without those that are invalid."""
    search = arguments.get("search", "").strip()[:SEARCH_LENGTH]
    sort, page = arguments.get("sort", ""), arguments.get("page", "")
    is_number = page.isascii() and page.isdigit() and len(page) <= len(str(PAGE_MAX))
    return ListFilters(
        path,
        sorts,
        "" if storage_problem(search) else search,
        sort if sort in sorts else next(iter(sorts)),
        min(max(int(page), 1), PAGE_MAX) if is_number else 1,
    )


def read_list_page(
    filters: ListFilters,
    count: Callable[[str, bool], CompiledQuery],
    page: Callable[[str, bool, str], CompiledQuery],
    records: Callable[[list[Any]], list[dict[str, Any]]],
) -> Listed:
    """Read the requested page, or the last one if there are fewer.

    Args:
        count: returns the statement that counts, for (dialect, is_search).
        page: returns the statement of a page, for (dialect, is_search, sort).
        records: makes records from the rows of the page.
    """
    dialect, is_search = reading_engine().dialect.name, bool(filters.search)
    total = int(count(dialect, is_search).scalar(**filters.parameters))
    pages = max(1, math.ceil(total / LISTED))
    number = min(filters.page, pages)
    span = {"size": LISTED, "skipped": (number - 1) * LISTED}
    rows = page(dialect, is_search, filters.sort).all(**filters.parameters, **span)
    return Listed(records(rows), total, number, pages)


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
