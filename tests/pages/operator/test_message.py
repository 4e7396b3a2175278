"""The message on all pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.policy.audit import INSTANCE
from app.policy.instance import MESSAGE_LENGTH, STATE_SECONDS
from app.site import instance_state
from app.site.instance_state import shown_message
from app.values import clock
from tests.make import Browser, Client
from tests.make.audit import new_entries
from tests.make.browser import Page
from tests.pages.support import browser_of, post

TEXT = "Canopy is upgraded tonight."


def show(operator: Browser, text: str = TEXT, **fields: str) -> Page:
    return post(operator, "/operator/message", **{"text": text, "kind": "information"} | fields)


@pytest.mark.slow
def test_it_is_on_every_page_until_it_is_removed(client: Client, operator: Browser) -> None:
    stranger, viewer = Browser(client.app), browser_of(client, "viewer")
    assert show(operator).status == 303
    told = "The message will appear on all pages within 10 seconds."
    assert told in operator.get("/operator").text
    for browser, path in (
        (stranger, "/login"),
        (stranger, "/"),
        (stranger, "/docs"),
        (stranger, "/nothing"),
        (stranger, "/reset-password/x"),
        (viewer, "/projects"),
        (viewer, "/operator"),  # which is refused
        (operator, "/operator"),
    ):
        assert (
            f'role="status" aria-label="Message of Canopy">\n    <p dir="auto">{TEXT}</p>'
            in browser.get(path).response.text
        ), path
    operator.get("/operator")
    page = operator.submit("/operator/message/remove")
    assert "The message has been removed." in page.text
    for path in ("/login", "/docs"):
        assert TEXT not in stranger.get(path).text


def test_what_is_wrong_is_said(operator: Browser) -> None:
    for fields in [
        {"text": ""},
        {"text": " \r\n "},
        {"text": "x" * (MESSAGE_LENGTH + 1)},
        {"text": "a\x00b"},
        {"kind": "alert"},
        {"kind": ""},
        {"until": "2020-01-01T00:00"},
        {"until": "tomorrow"},
        {"until": "99999-01-01T00:00"},
    ]:
        page = show(operator, **{"text": TEXT} | fields)
        assert page.status == 422
        assert "error" in page.response.text
        assert "message information" not in operator.get("/projects").response.text


def test_it_ends_by_itself(
    client: Client, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = clock.now() + timedelta(hours=1)
    show(operator, until=f"{until:%Y-%m-%dT%H:%M}")
    stranger = Browser(client.app)
    assert TEXT in stranger.get("/login").text
    monkeypatch.setattr(clock, "now", lambda: until + timedelta(seconds=1))
    assert TEXT not in stranger.get("/login").text


def test_another_one_takes_its_place(client: Client, operator: Browser) -> None:
    show(operator)
    with new_entries(client, INSTANCE) as found:
        show(operator, "Done.", kind="warning")
        operator.get("/operator")
        operator.submit("/operator/message/remove")
        assert post(operator, "/operator/message/remove").status == 303  # there is none
    shown, removed = found
    assert (shown["action"], removed["action"]) == (
        "instance.message_shown",
        "instance.message_removed",
    )
    assert shown["changes"] == {
        "message": {"from": TEXT, "to": "Done."},
        "kind": {"from": "information", "to": "warning"},
    }
    assert removed["changes"]["message"] == {"from": "Done.", "to": None}
    assert {each["actor"]["id"] for each in found} == {client.owner_id}


def test_another_process_shows_it_within_seconds(
    client: Client, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client.app.app_context():
        recent = instance_state._recent_state()
        assert shown_message() is None
    read_at = recent._read_at
    show(operator)
    recent._state, recent._read_at = instance_state.State(), read_at  # as another process has it
    assert TEXT not in Browser(client.app).get("/login").text
    assert read_at is not None
    monkeypatch.setattr(instance_state.time, "monotonic", lambda: read_at + STATE_SECONDS)
    assert TEXT in Browser(client.app).get("/login").text


def test_without_the_database_there_is_none(
    app: Flask, client: Client, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(operator)

    def fail(**_: Any) -> Any:
        raise OperationalError("SELECT", {}, Exception("gone"))

    monkeypatch.setattr(instance_state._ROW, "first", fail)
    with app.app_context():
        instance_state.forget_state()
        assert shown_message() is None
    assert Browser(app).get("/nothing").status == 404
