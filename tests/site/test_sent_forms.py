"""Forms that make a secret."""

from __future__ import annotations

from typing import Any

from flask import Flask, get_flashed_messages, session
from werkzeug.exceptions import HTTPException

from app.site.sent_forms import check_not_sent_before, mark_field, show_once


class Sender:
    """A browser: its session lasts from one form to the next."""

    def __init__(self, app: Flask) -> None:
        self._app, self._session = app, dict[str, Any]()

    def open(self, mark: str = "") -> str:
        """The mark in a form; that of a form that was sent, if it is shown again."""
        with self._app.test_request_context(method="POST", data={"mark": mark}):
            return str(mark_field()).split('"')[-2]

    def send(self, mark: str, path: str = "/a") -> tuple[str | None, list[str]]:
        """Where the form led before and what is said of it; a form that is new makes something."""
        with self._app.test_request_context(method="POST", data={"mark": mark}):
            session.update(self._session)
            leads_to = None
            try:
                check_not_sent_before("rotate it")
                show_once(path, "record_form.html")
            except HTTPException as ended:
                leads_to = ended.get_response().location
            self._session = {name: session[name] for name in session if name != "_flashes"}
            return leads_to, get_flashed_messages()


def test_a_form_that_is_sent_again_leads_to_what_it_has_made(app: Flask) -> None:
    sender = Sender(app)
    first, second = sender.open(), sender.open()
    assert first != second
    assert sender.send(first) == (None, [])
    path, messages = sender.send(first)
    assert path == "/a"
    assert messages[0].endswith("if nobody has copied it, rotate it.")
    assert sender.send(second) == (None, [])


def test_a_form_that_is_shown_again_keeps_its_mark(app: Flask) -> None:
    mark = Sender(app).open()
    assert Sender(app).open(mark) == mark


def test_only_the_last_ones_are_kept(app: Flask) -> None:
    sender = Sender(app)
    marks = [sender.open() for _ in range(7)]
    for mark in marks:
        sender.send(mark, f"/{mark}")
    assert [sender.send(mark)[0] for mark in marks[2:]] == [f"/{mark}" for mark in marks[2:]]
    assert sender.send(marks[0])[0] is None


def test_what_is_no_mark_is_not_remembered(app: Flask) -> None:
    sender = Sender(app)
    for text in ("", "x" * 10_000):
        assert sender.send(text)[0] is sender.send(text)[0] is None
        assert sender.open(text) != text
