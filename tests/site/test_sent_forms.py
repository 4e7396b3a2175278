"""Forms whose answer is shown once."""

from __future__ import annotations

from flask import Flask

from app.site.sent_forms import new_mark, remember_sent, sent_before


def test_a_form_is_remembered_with_where_it_led(app: Flask) -> None:
    first, second = new_mark(), new_mark()
    assert first != second
    with app.test_request_context("/"):
        remember_sent(first, "/a")
        assert (sent_before(first), sent_before(second)) == ("/a", None)


def test_only_the_last_ones_are_kept(app: Flask) -> None:
    marks = [new_mark() for _ in range(7)]
    with app.test_request_context("/"):
        for mark in marks:
            remember_sent(mark, f"/{mark}")
        assert [sent_before(mark) is None for mark in marks] == [True] * 2 + [False] * 5


def test_what_is_no_mark_is_not_remembered(app: Flask) -> None:
    with app.test_request_context("/"):
        for text in (None, "", "x" * 10_000):
            remember_sent(text, "/a")
            assert sent_before(text) is None
