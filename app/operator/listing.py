"""What the lists of accounts and of people share: a search, an order, pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, bindparam, func

from app.policy.bounds import PAGE_MAX, SEARCH_LENGTH
from app.policy.instance import LISTED
from app.values.text import fold, slugify, unstorable

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
        defaults = {"search": "", "sort": next(iter(self.sorts)), "page": 1}
        query = {name: value for name, value in values.items() if value != defaults[name]}
        return f"{self.path}?{urlencode(query)}" if query else self.path

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of ``contains`` and ``slug_contains``."""
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
        "" if unstorable(search) else search,
        sort if sort in sorts else next(iter(sorts)),
        min(max(int(page), 1), PAGE_MAX) if is_number else 1,
    )


def page_numbers(filters: ListFilters, total: int) -> tuple[int, int]:
    """The number of the page that is shown, and of pages. Past the last one, it is that."""
    pages = max(1, math.ceil(total / LISTED))
    return min(filters.page, pages), pages


def span(number: int) -> dict[str, int]:
    """The parameters of ``app.db.search_index.page_of`` for a page."""
    return {"size": LISTED, "skipped": (number - 1) * LISTED}


def contains(column: ColumnElement[str], dialect: str) -> ColumnElement[bool]:
    """Whether a text has what is searched for, in any case. SQLite knows only the case of ASCII, so
    that other letters are found as they were typed."""
    position = func.strpos if dialect == "postgresql" else func.instr
    lowered = position(func.lower(column), bindparam("lowered")) > 0
    found: ColumnElement[bool] = lowered | (position(column, bindparam("typed")) > 0)
    return found


def has(column: ColumnElement[str], parameter: str, dialect: str) -> ColumnElement[bool]:
    """Whether a text has the value of a parameter, ``slug`` or ``folded``, as it is."""
    position = func.strpos if dialect == "postgresql" else func.instr
    found: ColumnElement[bool] = position(column, bindparam(parameter)) > 0
    return found
