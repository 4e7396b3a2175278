"""The pages of API keys and service tokens."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from app.account.credentials import service
from app.account.credentials.service import list_credentials
from app.account.members.service import change_role, remove_member
from app.db.transactions import transaction
from app.pages.credentials import listing
from app.pages.credentials.forms import CredentialDraft
from app.values import clock
from tests.make import (
    Browser,
    Client,
    make_key,
    make_member,
    make_project,
    make_service_token,
    operator_of,
)
from tests.make.browser import Page
from tests.pages.support import HOSTILE, post, signed_in_browser

PATHS = ["/api-keys", "/service-tokens"]
SECRET = re.compile(r"canopy_(?:key|svc)_\w+")


def _secret(page: Page) -> str:
    found = SECRET.search(page.text)
    assert found, page.text
    return found[0]


def _create(browser: Browser, path: str = "/api-keys", **fields: object) -> Page:
    given = {"name": "Nightly", "permissions": ["projects:read"], "scope": "all", "life": "never"}
    return post(browser, f"{path}/new", **given | fields)


def _works(client: Client, secret: str, path: str = "/v1/projects") -> int:
    return Client(client.app, client.account_id, client.owner_id, secret).get(path).status_code


@pytest.mark.parametrize("path", PATHS)
def test_one_is_made_used_and_revoked(client: Client, owner: Browser, path: str) -> None:
    page = _create(owner, path)
    assert page.status == 200
    assert page.response.headers["Cache-Control"] == "no-store"
    secret = _secret(page)
    assert f"Authorization: Bearer {secret}" in page.text
    assert _works(client, secret) == 200
    page = owner.get(path)
    assert secret not in page.text
    assert f"…{secret[-4:]}" in page.text
    assert re.search(r"Last used \S+ \S+ [AP]M UTC from \d+\.", page.text)
    assert "1 request in 7 days" in page.text
    assert "See projects and check geometries" in page.text
    revoke = next(form.action for form in page.forms if form.action.endswith("/revoke"))
    assert post(owner, revoke).status == 303
    assert _works(client, secret) == 401
    assert post(owner, revoke).status == 404


def test_a_key_is_limited_to_projects(client: Client, owner: Browser) -> None:
    project, other = make_project(client, name=HOSTILE), make_project(client)
    page = _create(owner, scope="some", project_ids=[project["id"]])
    secret = _secret(page)
    assert f", only in {HOSTILE}" in page.text
    assert _works(client, secret, f"/v1/projects/{project['id']}") == 200
    assert _works(client, secret, f"/v1/projects/{other['id']}") == 404
    page = owner.get("/api-keys")
    assert f"only {HOSTILE}" in page.text
    assert f"/projects/{project['id']}" in page.links
    assert "<script>alert" not in page.response.get_data(as_text=True)


def test_a_key_expires(client: Client, owner: Browser) -> None:
    for life, days in (("30", 30), ("90", 90), ("365", 365)):
        _create(owner, life=life)
        with client.app.app_context():
            end = list_credentials(client.account_id, "api_key")[0]["expires_at"]
        left = clock.parse_time(end) - clock.now()
        assert timedelta(days=days, minutes=-1) < left <= timedelta(days=days)
    day = (clock.now() + timedelta(days=40)).date()
    page = _create(owner, life="date", expires_on=day.isoformat())
    assert _works(client, _secret(page)) == 200
    with client.app.app_context():
        end = list_credentials(client.account_id, "api_key")[0]["expires_at"]
    assert end[:10] == (day + timedelta(days=1)).isoformat()


def test_a_token_has_an_allowlist(client: Client, owner: Browser) -> None:
    page = _create(owner, "/service-tokens", ip_allowlist="203.0.113.7\r\n\r\n10.0.0.0/8 ")
    assert _works(client, _secret(page)) == 401  # 127.0.0.1
    page = owner.get("/service-tokens")
    assert "2 addresses only" in page.text
    assert "10.0.0.0/8" in page.text


def test_a_form_that_is_sent_again_creates_nothing(client: Client, owner: Browser) -> None:
    mark = owner.get("/api-keys/new").form("/api-keys/new").fields["mark"]
    assert _create(owner, mark=mark).status == 200
    page = _create(owner, mark=mark)
    assert page.status == 303
    with client.app.app_context():
        names = [each["name"] for each in list_credentials(client.account_id, "api_key")]
    assert names.count("Nightly") == 1


def test_what_is_wrong_is_said_and_the_rest_kept(owner: Browser) -> None:
    for fields, said in [
        ({"name": " "}, "Must have 1 to 200 characters."),
        ({"permissions": []}, "Choose at least one."),
        ({"permissions": ["projects:rule"]}, "Choose at least one permission"),
        ({"scope": "some"}, "Choose at least one project."),
        ({"scope": "some", "project_ids": ["proj_01arz3ndektsv4rrffq69g5fav"]}, "has no project"),
        ({"life": "date", "expires_on": "tomorrow"}, "Choose a date"),
        ({"life": "date", "expires_on": "2020-01-01"}, "Must be in the future."),
        ({"life": "date", "expires_on": "9999-12-31"}, "Choose a date"),
        ({"life": "1000"}, "Not a valid choice."),
    ]:
        page = _create(owner, **{"name": "Kept name"} | fields)
        assert page.status == 422
        assert said in page.text
        assert SECRET.search(page.text) is None
        if "name" not in fields:
            assert page.form("/api-keys/new").fields["name"] == "Kept name"


def test_the_address_fills_the_form_in(client: Client, owner: Browser) -> None:
    project = make_project(client, name="Umpqua")
    page = owner.get(f"/api-keys/new?project_id={project['id']}&permissions=projects:read&name=A")
    text = page.response.get_data(as_text=True)
    assert f'value="{project["id"]}" checked' in text
    assert 'value="some" checked' in text
    assert 'value="projects:read" checked' in text
    assert 'value="projects:write" checked' not in text
    assert page.form("/api-keys/new").fields["name"] == "A"
    links = owner.get(f"/projects/{project['id']}").links
    assert any(link.startswith(f"/api-keys/new?project_id={project['id']}") for link in links)


def test_projects_are_searched_and_the_chosen_ones_stay(client: Client, owner: Browser) -> None:
    chosen, *_ = [make_project(client, name=name) for name in ("Alder", "Birch", "Cedar")]
    query = f"search=birch&project_ids={chosen['id']}"
    for path in ("/api-keys/projects", "/api-keys/new"):
        text = owner.get(f"{path}?{query}").text
        assert "Alder" in text
        assert "Birch" in text
        assert "Cedar" not in text


def test_no_more_than_so_many_are_made(
    client: Client, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.credentials.listing.PAGE_KEYS", 2)
    monkeypatch.setattr("app.pages.credentials.views.PAGE_KEYS", 2)
    make_key(client)
    page = owner.get("/api-keys")
    assert "Revoke one" in page.text
    assert "/api-keys/new" not in page.links
    page = _create(owner)
    assert page.status == 409
    assert "The account has 2 API keys, and can have 2." in page.text


@pytest.mark.parametrize("become", ["viewer", None])
def test_whoever_was_demoted_meanwhile_makes_no_key(
    client: Client, monkeypatch: pytest.MonkeyPatch, become: str | None
) -> None:
    """Between the start of the request and its transaction."""
    admin = make_member(client, "admin")
    browser = signed_in_browser(client, admin.id)
    fields = browser.get("/api-keys/new").form("/api-keys/new").fields
    read = CredentialDraft.arguments

    def demoted(draft: CredentialDraft, *, expires: bool) -> Any:
        with client.app.app_context(), transaction():
            if become:
                change_role(operator_of(client), admin.id, become)
            else:
                remove_member(operator_of(client), admin.id)
        return read(draft, expires=expires)

    monkeypatch.setattr(CredentialDraft, "arguments", demoted)
    given = {"name": "Kept", "permissions": "admin", "life": "never"}
    assert browser.send("/api-keys/new", **fields | given).status == 403
    with client.app.app_context():
        names = [each["name"] for each in list_credentials(client.account_id, "api_key")]
    assert "Kept" not in names


def test_those_of_the_other_kind_and_of_others_are_not_there(
    client: Client, stranger: Client, owner: Browser
) -> None:
    token = make_service_token(client)
    for credential_id in (token.credential_id, stranger.credential_id, "x", "%00"):
        assert post(owner, f"/api-keys/{credential_id}/revoke").status == 404
    assert token.get("/v1/projects").status_code == 200
    assert stranger.get("/v1/projects").status_code == 200


def test_of_those_that_are_over_the_last_to_end_are_read_and_listed(
    client: Client, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, made = list[str](), service._credential_record
    monkeypatch.setattr(service, "_credential_record", lambda row: read.append(row.id) or made(row))
    monkeypatch.setattr(listing, "ENDED_KEYS_SHOWN", 2)
    keys = {name: make_key(client, name=name) for name in ("Alder", "Birch", "Cedar")}
    for name in ("Cedar", "Alder", "Birch"):
        post(owner, f"/api-keys/{keys[name].credential_id}/revoke")
    page = owner.get("/api-keys")
    assert "Revoked or expired (3)" in page.text
    assert "Only the 2 that ended last are listed." in page.text
    assert "Cedar" not in page.text
    assert page.text.index("Birch") < page.text.index("Alder")
    ids = [client.credential_id, keys["Birch"].credential_id, keys["Alder"].credential_id]
    assert read == ids
