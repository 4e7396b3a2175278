"""Which rows a page of a list is, and the shortest way to them."""

from __future__ import annotations

from typing import Final, NamedTuple

_FEW: Final = 200  # rows that may be skipped by reading them


class Span(NamedTuple):
    """The rows of a page: so many, after so many; counted from the end where that is nearer."""

    size: int
    skipped: int
    backwards: bool


def span(page: int, per_page: int, total: int) -> Span | None:
    """The span of a page, from 1, of a list of ``total`` rows; None when it is past the end."""
    skipped = (page - 1) * per_page
    if skipped >= total:
        return None
    size = min(per_page, total - skipped)
    rest = total - skipped - size
    return Span(size, min(skipped, rest), rest < skipped)


def is_among_the_first(wanted: Span) -> bool:
    """Whether so few rows are skipped that they need not be found first and read after."""
    return wanted.skipped <= _FEW and not wanted.backwards


def is_near(wanted: Span, found: int, everything: int) -> bool:
    """Whether a page of what was found is soonest reached through the whole list in its order.

    Of ``everything`` in the list every n-th row is one of the ``found``, so that n rows are tested
    for each that is wanted. The other way is to get all that were found, and to sort them.
    """
    return (wanted.skipped + wanted.size) * everything <= found * found
