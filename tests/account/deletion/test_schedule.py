"""An owner schedules the deletion of an account on its page, and any owner can cancel it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.policy.deletion import DELETED_AFTER
from app.policy.second_factor import CONFIRMED_FOR
from app.values import clock
from tests.account.deletion.support import PAGE, account_with, make_due, run_job, schedule, slug_of
from tests.make import Client, make_project
from tests.make.audit import new_entries
from tests.make.mails import mails_to, text_of
from tests.make.members import make_member
from tests.normalizing import refuse_to_normalize_long_texts
from tests.oauth.support import browser_of as browser_with_password
from tests.pages.support import browser_of, post, signed_in_browser
from tests.people.second_factor.support import Later, app_of, give


def test_it_is_scheduled_and_canceled(client: Client) -> None:
    slug, browser = slug_of(client), browser_with_password(client)
    with new_entries(client) as found:
        schedule(browser, slug)
    deletes_at = account_with(client.app, slug).deletes_at
    assert deletes_at is not None
    assert abs(deletes_at - clock.now() - DELETED_AFTER) < timedelta(minutes=1)
    page = browser.get("/projects")
    assert "will be deleted on" in page.text
    assert PAGE in page.links  # to keep it
    with new_entries(client) as canceled:
        browser.get(PAGE)
        page = browser.submit(f"{PAGE}/cancel")
    assert "will not be deleted" in page.text
    assert account_with(client.app, slug).deletes_at is None
    assert "will be deleted on" not in browser.get("/projects").text
    assert [each["action"] for each in found + canceled] == [
        "account.deletion_scheduled",
        "account.deletion_canceled",
    ]
    assert {each["actor"]["id"] for each in found + canceled} == {client.owner_id}


def test_a_second_click_leads_to_the_page(client: Client) -> None:
    browser, slug = browser_with_password(client), slug_of(client)
    fields = browser.get(PAGE).form(PAGE).fields | {"confirmation": slug}
    browser.send(PAGE, **fields)
    deletes_at = account_with(client.app, slug).deletes_at
    page = browser.send(PAGE, **fields)
    assert (page.status, page.response.headers["Location"]) == (303, PAGE)
    assert "is already scheduled" in browser.get(PAGE).text
    assert account_with(client.app, slug).deletes_at == deletes_at


def test_nothing_happens_until_then(client: Client) -> None:
    schedule(browser_with_password(client), slug_of(client))
    run_job(client.app)
    assert make_project(client)["id"]


@pytest.mark.both
def test_another_name_is_refused(client: Client) -> None:
    browser, slug = browser_with_password(client), slug_of(client)
    for typed in ("", "x", f"{slug}x"):
        browser.get(PAGE)
        page = browser.submit(PAGE, confirmation=typed)
        assert page.status == 422
    assert f"That is not {slug}." in page.text
    assert account_with(client.app, slug).deletes_at is None


def test_marks_in_a_row_take_no_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Normalizing them takes as long as the square of their number."""
    browser, typed = browser_with_password(client), "a" + "\u0316\u0300" * 15_000
    browser.get(PAGE).form(PAGE).enctype = "multipart/form-data"  # other forms are shorter
    refuse_to_normalize_long_texts(monkeypatch)
    page = browser.submit(PAGE, confirmation=typed)
    assert page.status == 422


def test_who_is_no_owner_is_told_who_can(client: Client) -> None:
    for role in ("viewer", "admin"):
        browser = browser_of(client, role)
        for page in (browser.get(PAGE), post(browser, PAGE), post(browser, f"{PAGE}/cancel")):
            assert page.status == 403
            assert "Only owners of the account can do this." in page.text


def test_admins_are_told(client: Client) -> None:
    admin = make_member(client, "admin")
    browser = signed_in_browser(client, admin.id)
    schedule(browser_with_password(client), slug_of(client))
    assert "Its owners can cancel that." in browser.get("/projects").text
    told = text_of(mails_to(client.app, admin.email)[-1])
    assert "scheduled the deletion of the account" in told
    assert f"/accounts/{slug_of(client)}/deletion" in told


def test_what_has_begun_cannot_be_canceled(client: Client) -> None:
    slug, browser = slug_of(client), browser_with_password(client)
    schedule(browser, slug)
    browser.get(PAGE)
    make_due(client.app, client.account_id)
    page = browser.submit(f"{PAGE}/cancel")
    assert "can no longer be canceled" in page.text
    assert account_with(client.app, slug).deletes_at is not None


def test_what_has_begun_is_not_offered_to_be_kept(client: Client) -> None:
    browser = browser_with_password(client)
    schedule(browser, slug_of(client))
    make_due(client.app, client.account_id)
    page = browser.get(PAGE)
    assert page.title == "This account is being deleted"
    assert "Keep" not in page.text
    assert not [form for form in page.forms if form.action == f"{PAGE}/cancel"]
    assert "Cancel the deletion" not in browser.get("/settings").text
    page = browser.get("/projects")
    assert "is being deleted." in page.text
    assert "Keep" not in page.text


def test_the_second_factor_is_asked_first(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    later, slug = Later(monkeypatch), slug_of(client)
    browser = browser_with_password(client)
    factor = app_of(client.app, client.owner_id)
    later.move(CONFIRMED_FOR)
    browser.get(PAGE)
    asked = browser.submit(PAGE, confirmation=slug)
    assert asked.title == "Confirm that it is you"
    assert account_with(client.app, slug).deletes_at is None
    page = give(browser, value=factor.code())
    assert "will be deleted" in page.title, page.text


def test_who_has_none_is_asked_for_the_password(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    later, slug = Later(monkeypatch), slug_of(client)
    browser = browser_with_password(client)
    later.move(CONFIRMED_FOR)
    browser.get(PAGE)
    browser.submit(PAGE, confirmation=slug)
    assert browser.submit(PAGE, confirm_password="not the right one").status == 422
    assert account_with(client.app, slug).deletes_at is None
