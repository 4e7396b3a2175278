"""How many accounts a person may create on pages (``ACCOUNTS_PER_PERSON``)."""

from __future__ import annotations

import time

import pytest
from flask import Flask

from app.people import service
from tests.make import Browser, make_account, make_member, second_app, sign_in, sign_up, together


def create(browser: Browser, name: str = "Beech Wood") -> int:
    return browser.submit("/accounts", account_name=name, follow=False).status


def form_fields(browser: Browser) -> dict[str, str]:
    return browser.get("/profile").form("/logout").fields


def test_a_person_may_own_so_many_accounts(app: Flask, email: str) -> None:
    with second_app(app, accounts_per_person=3) as made:
        browser = sign_up(made, email)
        for _ in range(2):
            browser.get("/accounts")
            assert create(browser) == 303
        page = browser.get("/accounts")
        assert not [form for form in page.forms if form.action == "/accounts"]
        assert "You own 3 accounts, and cannot create more here." in page.text
        page = browser.send("/accounts", **form_fields(browser), account_name="Fourth Wood")
        assert page.status == 403
        assert "You own 3 accounts" in page.text
        assert "Fourth Wood" not in browser.get("/accounts").text


def test_accounts_that_they_only_belong_to_do_not_count(app: Flask, email: str) -> None:
    with second_app(app, accounts_per_person=2) as made:
        browser = sign_up(made, email)
        for role in ("admin", "viewer"):
            make_member(make_account(made), role, email=email)
        browser.get("/accounts")
        assert create(browser) == 303


def test_nobody_creates_accounts_where_none_are_allowed(app: Flask, email: str) -> None:
    with second_app(app, accounts_per_person=0) as made:
        page = sign_up(made, email).get("/accounts")
        assert "Only whoever runs this instance can create accounts here." in page.text


@pytest.mark.slow
def test_concurrent_requests_do_not_create_one_too_many(
    app: Flask, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = service.own_account_problem

    def count_and_wait(user_id: str) -> str | None:
        found = counted(user_id)
        time.sleep(0.2)  # so that whoever does not wait for the others counts too few
        return found

    with second_app(app, accounts_per_person=3) as made:
        sign_up(made, email)
        browsers = [sign_in(made, email) for _ in range(5)]
        for browser in browsers:
            browser.get("/accounts")
        monkeypatch.setattr(service, "own_account_problem", count_and_wait)
        found = together(*[lambda browser=browser: create(browser) for browser in browsers])
        assert sorted(found) == [303, 303, 403, 403, 403]
