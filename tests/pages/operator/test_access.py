"""Who gets in, besides what ``tests/auth/page_table.py`` says."""

from __future__ import annotations

from app.db.transactions import transaction
from app.people.instance_operators import remove_operator
from tests.make import Browser, Client
from tests.pages.operator.support import change_person, operator_browser
from tests.pages.support import browser_of, post


def test_the_link_is_there_for_operators_only(client: Client, operator: Browser) -> None:
    assert "/operator" in operator.get("/projects").links
    assert "/operator" not in browser_of(client, "admin").get("/projects").links
    assert "/operator" not in Browser(client.app).get("/login").links


def test_rights_end_with_the_next_request(client: Client, operator: Browser) -> None:
    operator.get("/operator")
    with client.app.app_context(), transaction():
        assert remove_operator(client.owner_id)
    page = operator.submit("/operator/sign-up", press="yes")
    assert page.status == 403
    assert operator.get("/operator/accounts").status == 403
    assert "/operator" not in operator.get("/projects").links


def test_an_address_that_is_not_confirmed_is_not_enough(client: Client, operator: Browser) -> None:
    """As after their address was changed."""
    change_person(client, client.owner_id, email="other@example.org", email_verified_at=None)
    page = operator.get("/operator")
    assert page.status == 403
    assert "Confirm your email address first" in page.text


def test_another_account_stays_closed_to_an_operator(stranger: Client, operator: Browser) -> None:
    project_id = stranger.post("/v1/projects", {"name": "Hidden grove"}).json["data"]["id"]
    assert operator.get(f"/projects/{project_id}").status == 404
    for path in ("", "/accounts", f"/accounts/{stranger.account_id}", "/people", "/log"):
        page = operator.get(f"/operator{path}")
        assert page.status == 200
        assert "Hidden grove" not in page.text


def test_each_change_asks_who_it_is(client: Client) -> None:
    browser = operator_browser(client, confirmed=False)
    browser.get("/operator")
    page = browser.submit("/operator/sign-up", press="yes")
    assert "Confirm that it is you" in page.text
    page = browser.submit("/operator/sign-up", confirm_password="not that one")
    assert page.status == 422
    page = browser.submit("/operator/sign-up", confirm_password="correct horse battery")
    assert "Sign-up is closed." in page.text


def test_each_form_asks_who_it_is(client: Client) -> None:
    browser = operator_browser(client, confirmed=False)
    account = f"/operator/accounts/{client.account_id}/plan"
    for path, fields in (
        ("/operator/sign-up", {"closed": "yes"}),
        ("/operator/message", {"text": "Hello", "kind": "warning"}),
        ("/operator/message/remove", {}),
        (account, {"plan": "pro", "was_plan": "enterprise"}),
    ):
        assert "Confirm that it is you" in post(browser, path, **fields).text, path
