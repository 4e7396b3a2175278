"""Which rows a page of a list has, and the cheapest way to read them."""

from __future__ import annotations

from typing import Final, NamedTuple

_FEW: Final = 200  # rows that are skipped by reading them


class Span(NamedTuple):
    """The rows of a page: ``size`` rows after ``skipped`` ones, counted from the end of the list
    where that is nearer."""

    size: int
    skipped: int
    backwards: bool


def span(page: int, per_page: int, total: int) -> Span | None:
    """The span of a page, from 1, of a list of ``total`` rows; None when it is past the end.

    Counted from the beginning, a page may take more rows than there were when they were counted:
    else one that was added since would push off the last.
    """
    skipped = (page - 1) * per_page
    if skipped >= total:
        return None
    size = min(per_page, total - skipped)
    rest = total - skipped - size
    return Span(size, rest, True) if rest < skipped else Span(per_page, skipped, False)


def is_among_the_first(wanted: Span) -> bool:
    """Whether so few rows are skipped that reading them costs less than to look up ids first."""
    return wanted.skipped <= _FEW and not wanted.backwards


def is_near(wanted: Span, found: int, everything: int) -> bool:
    """Whether scanning the whole list in its order is the cheapest way to a page of matches.

    Of ``everything`` in the list every n-th row is one of the ``found``, so the scan tests n rows
    for each row of the page. The other way is to read all matches, and to sort them.
    """
    return min(wanted.skipped + wanted.size, found) * everything <= found * found
