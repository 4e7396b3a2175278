"""Numbered pages, and the cheapest way to read the rows of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select

from app.db.queries import CompiledQuery
from app.db.search_index import key_among, page_of

Row = tuple[Any, ...]

_FEW: Final = 200  # rows, which are skipped by reading them


class Span(NamedTuple):
    """``size`` rows after ``skipped`` ones, counted from the end of the list if ``backwards``."""

    size: int
    skipped: int
    backwards: bool


def page_rows(
    number: int,
    size: int,
    total: int,
    statement: Callable[[Span], CompiledQuery],
    values: dict[str, Any],
    *,
    at_once: int | None = None,
) -> Iterable[Row]:
    """The rows of a page; none past the end.

    Args:
        number: the number of the page, from 1.
        size: rows of a page.
        total: rows of all pages.
        statement: reads the rows of a span.
        values: the parameters of the statement that ``page_of`` does not set.
        at_once: rows in memory at a time; None: all.
    """
    page_span = span_of_page(number, size, total)
    if page_span is None:
        return ()
    compiled = statement(page_span)
    values = values | {"size": page_span.size, "skipped": page_span.skipped}
    if at_once is None:
        return compiled.tuples(**values)
    return chain.from_iterable(compiled.stream(at_once, **values))


def span_of_page(page: int, per_page: int, total: int) -> Span | None:
    """The span of a page, from 1, of a list of ``total`` rows; None past the end.

    A page of the second half is counted from the end, so that at most half of the list is skipped.
    One that is counted from the beginning may have more rows than were counted: otherwise a row
    that was added since would displace the last one.
    """
    skipped = (page - 1) * per_page
    if skipped >= total:
        return None
    size = min(per_page, total - skipped)
    rest = total - skipped - size
    return Span(size, rest, True) if rest < skipped else Span(per_page, skipped, False)


def is_among_the_first(page_span: Span) -> bool:
    """True if reading the skipped rows costs less than looking up ids first."""
    return page_span.skipped <= _FEW and not page_span.backwards


def is_near(page_span: Span, matches: int, everything: int) -> bool:
    """True if scanning the whole list in its order is the cheapest way to a page of matches.

    Every n-th row of ``everything`` is one of the ``matches``, so the scan tests n rows for each
    row of the page. The alternative is to read and sort all matches."""
    return min(page_span.skipped + page_span.size, matches) * everything <= matches * matches


def newest_first(
    keys: Select[Any],
    rows: Select[Any],
    order: Sequence[ColumnElement[Any]],
    *,
    backwards: bool,
) -> CompiledQuery:
    """The statement of a page of a list that is not searched.

    Args:
        keys: selects the last column of ``order``, which is unique, of the rows of all pages.
        rows: selects what is read.
        order: the columns that sort the list.
        backwards: the page is counted from the end of the list.
    """
    latest = [column.desc() for column in order]
    keys = keys.order_by(*(order if backwards else latest))
    return CompiledQuery(rows.where(key_among(order[-1], page_of(keys))).order_by(*latest))
