"""Spans of pages against slices of a list."""

from __future__ import annotations

from app.lists.pages import Span, is_near, span_of_page


def test_a_span_has_the_rows_of_its_page() -> None:
    for total in [0, 1, 19, 20, 21, 40, 99, 100]:
        for per_page in [1, 7, 20, 100]:
            rows = list(range(total))
            for page in range(1, total // per_page + 3):
                found = span_of_page(page, per_page, total)
                wanted = rows[(page - 1) * per_page : page * per_page]
                if found is None:
                    assert wanted == []
                    continue
                ordered = rows[::-1] if found.backwards else rows
                taken = ordered[found.skipped : found.skipped + found.size]
                assert sorted(taken) == wanted


def test_the_way_to_a_page_is_never_longer_than_half_of_the_list() -> None:
    for page in range(1, 51):
        found = span_of_page(page, 20, 1_000)
        assert found is not None
        assert found.skipped <= 490


def test_a_list_without_a_filter_is_read_in_its_order() -> None:
    assert is_near(Span(20, 480, False), 1_000, 1_000)


def test_what_is_frequent_is_met_soon_in_the_order_of_the_list() -> None:
    assert is_near(Span(20, 0, False), 300_000, 1_000_000)


def test_what_is_rare_is_sorted() -> None:
    assert not is_near(Span(20, 0, False), 20, 1_000_000)


def test_a_row_that_is_added_after_the_count_pushes_none_off_the_page() -> None:
    found = span_of_page(1, 20, 7)
    assert found is not None
    assert len([*range(8)][found.skipped : found.skipped + found.size]) == 8
