"""What the lists of accounts and of people share: a search, an order, pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func

from app.db.queries import CompiledQuery, engine
from app.db.search_index import id_values
from app.pages.filters import filtered
from app.policy.instance import LISTED
from app.policy.request_limits import PAGE_MAX, SEARCH_LENGTH
from app.values.clock import format_optional_time
from app.values.text import fold, slugify, storage_problem

_NOTHING: Final = "\uffff"  # a noncharacter, which no slug has


class ListFilters(NamedTuple):
    """What an address asks of a list. ``sorts`` are its orders in words, by their names in the
    address, the default first; ``sort`` is one of them."""

    path: str
    sorts: Mapping[str, str]
    search: str
    sort: str
    page: int

    def address(self, **others: Any) -> str:
        """The address of another page or order of the list."""
        values = {"search": self.search, "sort": self.sort, "page": self.page} | others
        return filtered(self.path, values, {"sort": next(iter(self.sorts)), "page": 1})

    @property
    def parameters(self) -> dict[str, str]:
        """The search text as parameters of statements; empty without a search."""
        if not self.search:
            return {}
        return {
            "typed": self.search,
            "lowered": self.search.lower(),
            "folded": fold(self.search),
            "slug": slugify(self.search) or _NOTHING,
        }


class Listed(NamedTuple):
    """One page of a list. ``number`` is that of the page."""

    records: list[dict[str, Any]]
    total: int
    number: int
    pages: int


def read_filters(path: str, sorts: Mapping[str, str], arguments: Mapping[str, str]) -> ListFilters:
    """The filters of an address. What is not valid is as if it were left out."""
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


def read_page(
    filters: ListFilters,
    count: Callable[[str, bool], CompiledQuery],
    page: Callable[[str, bool, str], CompiledQuery],
    records: Callable[[list[Any]], list[dict[str, Any]]],
) -> Listed:
    """Read the requested page, or the last one if there are fewer.

    Args:
        count: the statement that counts, for a dialect, with or without a search.
        page: the statement of a page, likewise, in an order.
        records: makes records from the rows of the page.
    """
    dialect, is_search = engine().dialect.name, bool(filters.search)
    total = int(count(dialect, is_search).scalar(**filters.parameters))
    pages = max(1, math.ceil(total / LISTED))
    number = min(filters.page, pages)
    span = {"size": LISTED, "skipped": (number - 1) * LISTED}
    rows = page(dialect, is_search, filters.sort).all(**filters.parameters, **span)
    return Listed(records(rows), total, number, pages)


def last_uses(
    ids: list[str], statements: Iterable[Callable[[str], CompiledQuery]]
) -> dict[str, str]:
    """When accounts or people were last active, by their ids; without those that never were.

    Args:
        statements: by dialect; each selects ids with a time.
    """
    dialect, found = engine().dialect.name, dict[str, str]()
    for statement in statements:
        for owner_id, moment in statement(dialect).tuples(ids=id_values(ids, dialect)):
            found[owner_id] = max(found.get(owner_id, ""), format_optional_time(moment) or "")
    return {owner_id: moment for owner_id, moment in found.items() if moment}


def contains_in_any_case(column: ColumnElement[str], dialect: str) -> ColumnElement[bool]:
    """Whether a text contains what is searched for, in any case. SQLite knows only the case of
    ASCII, so that other letters are found as they were typed."""
    lowered = contains(func.lower(column), "lowered", dialect)
    return lowered | contains(column, "typed", dialect)


def contains(column: ColumnElement[str], parameter: str, dialect: str) -> ColumnElement[bool]:
    """Whether a text contains the value of one of ``ListFilters.parameters``."""
    position = func.strpos if dialect == "postgresql" else func.instr
    found: ColumnElement[bool] = position(column, bindparam(parameter)) > 0
    return found
