"""Charts: where the bars and lines are, and what is said of them."""

from __future__ import annotations

import pytest

from app.site.charts import HEIGHT, WIDTH, Series, line_chart, stacked_bars


def _words(value: float) -> str:
    return f"{value:g} requests"


def test_columns_stack_their_numbers_and_fill_the_width() -> None:
    found = stacked_bars(
        ["Mon", "Tue"], [Series("ok", "good", [3, 0]), Series("failed", "bad", [1, 2])], _words
    )
    good, bad = found.columns[0].bars
    assert (good.look, bad.look) == ("good", "bad")
    assert good.y + good.height == HEIGHT
    assert bad.y + bad.height == good.y
    assert good.height == pytest.approx(3 * bad.height)
    assert len(found.columns[1].bars) == 1
    assert found.columns[1].x == WIDTH / 2
    assert found.columns[0].title == "Mon: ok 3 requests, failed 1 requests"
    assert found.rows == [
        ("Mon", ["3 requests", "1 requests"]),
        ("Tue", ["0 requests", "2 requests"]),
    ]


def test_the_axis_ends_at_a_round_number() -> None:
    for largest, top in [
        (0, 2),
        (1, 2),
        (3, 4),
        (5, 6),
        (6.1, 8),
        (9, 10),
        (23, 40),
        (1_001, 2_000),
    ]:
        found = stacked_bars(["now"], [Series("", "main", [largest])], lambda value: f"{value:g}")
        assert found.ticks == [f"{top:g}", f"{top / 2:g}", "0"]


def test_a_line_is_broken_where_a_number_is_missing() -> None:
    found = line_chart(["a", "b", "c", "d"], [Series("p50", "main", [1, 2, None, 1])], _words)
    ((look, pieces),) = found.lines
    assert look == "main"
    assert [len(piece.split()) for piece in pieces] == [2, 2]  # the second is a short dash
    assert found.rows[2] == ("c", ["–"])
    assert found.columns[2].title == "c: none"


def test_a_chart_without_numbers_is_empty() -> None:
    assert stacked_bars(["a"], [Series("", "main", [0])], _words).is_empty
    assert line_chart(["a"], [Series("", "main", [None])], _words).is_empty
    assert not line_chart(["a"], [Series("", "main", [1])], _words).is_empty
