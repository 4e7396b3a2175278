"""A first factor is turned on while another request, which was asked for none, is answered."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.pages.second_factor import views
from app.pages.single_sign_on import views as single_sign_on_views
from tests.make import Browser, second_app, signed_in
from tests.make.browser import PASSWORD
from tests.people.second_factor.support import (
    APP,
    OWN,
    Factor,
    SoftPasskey,
    begin,
    give,
    options_of,
    secret_of,
    turn_on,
)
from tests.people.single_sign_on.fake_provider import fake_provider
from tests.people.single_sign_on.support import identities, leave, signed_in_as


def _then(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Callable[[], object]
) -> None:
    """Make a change once, in another connection, after a function has returned."""
    original = getattr(module, name)

    def run(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(change).result(30)
        return result

    monkeypatch.setattr(module, name, run)


def test_another_app_does_not_replace_it(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    thief, own = signed_in(app, email), signed_in(app, email)
    thief.get(OWN)
    other = Factor(secret_of(thief.submit(APP)))
    _then(monkeypatch, views, "ask_again", lambda: turn_on(own))
    page = thief.submit(f"{APP}/confirm", code=other.code())
    assert "has just been turned on" in page.text
    waiting = begin(app, email)
    assert give(waiting, value=other.code(1)).status == 422


def test_a_passkey_is_not_added_to_it(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    thief, own = signed_in(app, email), signed_in(app, email)
    thief.get(OWN)
    options = options_of(thief.submit(f"{OWN}/passkeys/new"))
    _then(monkeypatch, views, "ask_again", lambda: turn_on(own))
    response = SoftPasskey().registered(options)
    page = thief.submit(f"{OWN}/passkeys", name="Phone", response=response)
    assert (page.status, "has just been turned on" in page.text) == (409, True)


def test_the_password_alone_links_nothing_to_it(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_provider() as liar, second_app(app, **liar.settings) as site:
        own, thief = signed_in(app, email), Browser(site)
        thief.get(liar.sign_in(leave(thief), email=email, sub=f"thief of {email}"))
        _then(monkeypatch, single_sign_on_views, "would_bypass_second_factor", lambda: turn_on(own))
        assert thief.submit(password=PASSWORD).status == 400
        assert (signed_in_as(thief), identities(site, email)) == ("", [])
