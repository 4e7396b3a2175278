"""The page of one application that the account has registered."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest

from app.oauth.applications import people, service
from app.policy.forms import FIELD_LENGTH
from app.values import clock
from tests.make import (
    Browser,
    Client,
    bearer,
    grant_tokens,
    make_application,
    make_member,
)
from tests.make.browser import Page
from tests.make.oauth import BACK, Application, ask_token
from tests.pages.support import post

TWO = ("projects:read", "assets:read")


@pytest.fixture
def application(client: Client) -> Application:
    return make_application(client, scopes=TWO)


def path_of(application: Application) -> str:
    return f"/applications/{application.id}"


def secret_in(page: Page) -> str:
    return re.search(r"canopy_ocs_\w+", page.text)[0]  # type: ignore[index]


def rotate(browser: Browser, application: Application, hours: str = "24") -> Page:
    """Rotate the secret with the form of the page."""
    path = path_of(application)
    mark = browser.get(path).form(f"{path}/secret#secret").fields["mark"]
    return post(browser, f"{path}/secret", overlap_hours=hours, mark=mark)


def accepts(client: Client, application: Application, secret: str | None) -> bool:
    answer = ask_token(
        client.app, application, "/oauth/introspect", token="x", client_secret=secret
    )
    return answer.status_code == 200


def record(client: Client, application: Application) -> dict[str, object]:
    with client.app.app_context():
        return service.find_application(client.account_id, application.id) or {}


def save(browser: Browser, application: Application, **fields: object) -> Page:
    given = {"name": "Map", "redirect_uris": BACK, "scopes": list(TWO)} | fields
    return post(browser, path_of(application), **given)


def test_people_of_other_accounts_are_a_number(
    client: Client, stranger: Client, owner: Browser, application: Application
) -> None:
    member = make_member(client)
    grant_tokens(client.app, application, member.id, client.account_id)
    other = make_member(stranger)
    grant_tokens(client.app, application, other.id, stranger.account_id)
    page = owner.get(path_of(application))
    assert "2 people, over all accounts" in page.text
    assert "1 of them in" in page.text
    assert member.email in page.text
    assert other.email not in page.text
    assert "projects:read · granted by 2 people" in page.text
    assert "2 people lose access: all tokens are rejected" in page.text


def test_of_many_people_the_latest_are_listed(
    client: Client, owner: Browser, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "PEOPLE_SHOWN", 2)
    members = [make_member(client) for _ in range(3)]
    for each in members:
        grant_tokens(client.app, application, each.id, client.account_id)
        time.sleep(0.002)  # so that the times differ
    page = owner.get(path_of(application))
    assert "3 of them in" in page.text
    assert "Only the latest 2 are listed." in page.text
    assert [each.email in page.text for each in members] == [False, True, True]


def test_name_and_addresses_are_changed(
    client: Client, owner: Browser, application: Application
) -> None:
    tokens = grant_tokens(client.app, application, client.owner_id, client.account_id)
    uris = "https://map.example/a\r\nhttps://map.example/b"
    page = save(owner, application, name=" Map 2 ", redirect_uris=uris)
    assert page.status == 303
    page = owner.get(path_of(application))
    assert "Saved." in page.text
    assert "asked again" not in page.text
    found = record(client, application)
    assert (found["name"], found["redirect_uris"]) == ("Map 2", uris.split("\r\n"))
    assert found["scopes"] == list(TWO)
    assert page.form(path_of(application)).fields["redirect_uris"].split() == uris.split()
    assert bearer(client, tokens["access_token"]).get("/v1/projects").status_code == 200


def test_wrong_changes_are_said_and_nothing_is_changed(
    client: Client, owner: Browser, application: Application
) -> None:
    page = save(owner, application, name="", redirect_uris="http://a.example", scopes=[])
    assert page.status == 422
    for text in ("Please fix 3 fields.", "'http://a.example': Must be https", "Choose at least"):
        assert text in page.text
    assert record(client, application)["name"] == "Map of Woods"
    assert page.title == "Problem · Map of Woods"


def test_taking_a_scope_away_is_agreed_to_before(
    client: Client, stranger: Client, owner: Browser, application: Application
) -> None:
    both = grant_tokens(client.app, application, stranger.owner_id, stranger.account_id, TWO)
    member = make_member(client)
    one = grant_tokens(client.app, application, member.id, client.account_id, TWO[:1])
    page = save(owner, application, scopes=["projects:read", "profile"])
    assert page.status == 422
    assert "Not saved yet. 1 person granted what you take away: See the assets" in page.text
    assert record(client, application)["scopes"] == list(TWO)
    # Somebody who takes away more is asked again.
    page = save(owner, application, scopes=["profile"], end_access="assets:read")
    assert "Not saved yet. 2 people granted" in page.text
    page = save(owner, application, scopes=["projects:read"], end_access="assets:read")
    assert page.status == 303
    assert "are asked again" in owner.get(path_of(application)).text
    assert bearer(stranger, both["access_token"]).get("/v1/projects").status_code == 401
    assert bearer(client, one["access_token"]).get("/v1/projects").status_code == 200


def test_both_secrets_work_until_the_former_one_is_ended(
    client: Client, owner: Browser, application: Application
) -> None:
    page = rotate(owner, application, "48")
    assert page.status == 200
    assert page.response.headers["Cache-Control"] == "no-store"
    new = secret_in(page)
    assert accepts(client, application, new)
    assert accepts(client, application, application.secret)
    until = clock.now() + timedelta(hours=48)
    assert f"The former secret works until {until:%m/%d/%Y}" in page.text
    listed = owner.get("/applications").text
    assert f"The former secret works until {until:%m/%d/%Y}" in listed
    assert new not in listed + owner.get(path_of(application)).text
    assert post(owner, f"{path_of(application)}/former-secret/end").status == 303
    assert "Only the present secret works now." in owner.get(path_of(application)).text
    assert accepts(client, application, new)
    assert not accepts(client, application, application.secret)
    post(owner, f"{path_of(application)}/former-secret/end")
    assert "No former secret worked anymore." in owner.get(path_of(application)).text


def test_a_leaked_secret_is_rotated_without_an_overlap(
    client: Client, owner: Browser, application: Application
) -> None:
    page = rotate(owner, application, "0")
    assert "The former secret no longer works." in page.text
    assert accepts(client, application, secret_in(page))
    assert not accepts(client, application, application.secret)
    assert "End the former one now" not in page.text


def test_a_reload_of_the_answer_does_not_rotate_again(
    client: Client, owner: Browser, application: Application
) -> None:
    path = path_of(application)
    sent = {
        "overlap_hours": "24",
        "mark": owner.get(path).form(f"{path}/secret#secret").fields["mark"],
    }
    new = secret_in(post(owner, f"{path}/secret", **sent))
    page = post(owner, f"{path}/secret", **sent)
    assert page.status == 303
    assert "was not rotated again" in owner.get(path).text
    assert accepts(client, application, new)
    assert accepts(client, application, application.secret)


def test_other_overlaps_are_refused(
    client: Client, owner: Browser, application: Application
) -> None:
    for hours in ("-1", "169", "1.5", "x", "", "9" * FIELD_LENGTH):
        owner._address = Browser.address()  # each has had few requests
        page = rotate(owner, application, hours)
        assert page.status == 422
        assert "whole number of hours from 0 to 168" in page.text
        assert "canopy_ocs_" not in page.text
    assert record(client, application)["former_secret_until"] is None


def test_a_public_application_has_nothing_to_rotate(client: Client, owner: Browser) -> None:
    application = make_application(client, public=True)
    page = owner.get(path_of(application))
    assert "Rotate" not in page.text
    page = post(owner, f"{path_of(application)}/secret", overlap_hours="24", mark="x")
    assert page.status == 303
    assert "A public application has no secret." in owner.get(path_of(application)).text


def test_rotating_often_is_refused_for_a_while(
    client: Client, owner: Browser, application: Application
) -> None:
    owner._address = Browser.address()
    statuses = [rotate(owner, application).status for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_deleting_ends_all_access(
    client: Client, stranger: Client, owner: Browser, application: Application
) -> None:
    tokens = grant_tokens(client.app, application, stranger.owner_id, stranger.account_id)
    page = owner.get(path_of(application))
    assert "1 person loses access: all tokens are rejected" in page.text
    page = owner.submit(f"{path_of(application)}/delete")
    assert page.path == "/applications"
    assert "Map of Woods deleted." in page.text
    assert bearer(stranger, tokens["access_token"]).get("/v1/projects").status_code == 401
    assert owner.get(path_of(application)).status == 404
    assert not accepts(client, application, application.secret)
