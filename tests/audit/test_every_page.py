"""Every form of a page that changes something in the account has exactly one entry."""

from __future__ import annotations

from typing import Any, Final

import pytest

from app.oauth.applications.service import find_application
from tests.auth.page_table import PAGES, forms_with_entries
from tests.auth.test_page_matrix import Route, things
from tests.make import (
    Browser,
    Client,
    make_invited,
    make_member,
    make_project,
    make_service_token,
    new_email,
)
from tests.make.audit import new_entries
from tests.make.browser import Page
from tests.make.features import collection, feature
from tests.make.imports import make_import
from tests.pages.support import MULTIPART, browser_of, post, several_parts
from tests.site.form_fields import FIELDS, FIELDS_OF

# What must be posted before, below the same path.
_BEFORE: Final = {
    "/projects/<project_id>/delete": "archive",
    "/projects/<project_id>/restore": "archive",
    "/webhooks/<webhook_id>/enable": "disable",
    "/applications/<app_id>/former-secret/end": "secret",
}
# The page that has the form, where it must be sent as that shows it.
_SHOWN_ON: Final = {
    "/api-keys/new": "/api-keys/new",
    "/members/<member_id>/remove": "/members/<member_id>",
    "/members/<member_id>/role": "/members/<member_id>",
    "/service-tokens/new": "/service-tokens/new",
    "/settings": "/settings",
    "/webhooks/<webhook_id>/edit": "/webhooks/<webhook_id>/edit",
}
_CREDENTIAL: Final = {"name": "Nightly", "permissions": "projects:read"}


def posts() -> list[Route]:
    """Those of the account: tests/pages/operator/test_audit.py has those of operators."""
    rules = forms_with_entries()
    return [Route("POST", rule) for rule in rules if not rule.startswith("/operator")]


@pytest.mark.slow
def test_a_form_that_changes_something_has_one_entry(
    client: Client, subtests: pytest.Subtests
) -> None:
    browser = browser_of(client)
    for route in posts():
        ids = _things(client, route)
        typed = _typed(client, route.rule, ids)
        if before := _BEFORE.get(route.rule):
            path = route.path(ids).rpartition(route.rule.rpartition("/")[2])[0]
            if route.rule.endswith("former-secret/end"):
                path = path.removesuffix("former-secret/")
            sent = _mark(client, ids["app_id"]) if before == "secret" else {}
            post(browser, f"{path}{before}", **sent)
        with subtests.test(route.rule), new_entries(client) as found:
            page = _send(browser, route, ids, typed)
            assert page.status in (200, 303), page.text[:2_000]
        with subtests.test(f"{route.rule}, its entry"):
            assert [each["action"] for each in found] == PAGES[route.name].actions
            for each in found:
                assert each["actor"]["type"] == "person"
                assert each["actor"]["id"] == client.owner_id
                assert each["via"]["request_id"]


def _send(browser: Browser, route: Route, ids: dict[str, str], typed: dict[str, Any]) -> Page:
    """Post a form as its page shows it, with what is typed into it."""
    path = route.path(ids)
    if route.rule == "/imports/new":
        token = browser.get(path).form().fields["csrf_token"]
        body = several_parts(csrf_token=token, kind="projects", file=collection(feature(name="A")))
        return browser.post_bytes(path, body, MULTIPART)
    shown_on = _SHOWN_ON.get(route.rule)
    if shown_on is None:
        return post(browser, path, **typed)
    browser.get(Route("GET", shown_on).path(ids))
    return browser.submit(path, follow=False, **typed)


def _typed(client: Client, rule: str, ids: dict[str, str]) -> dict[str, Any]:
    """What makes a form be accepted, and change something."""
    others = {
        "/accounts/switch": lambda: {"account_id": client.account_id},
        "/assets/<project_id>/<asset_id>/delete": lambda: _named(client, rule, ids),
        "/projects/<project_id>/delete": lambda: _named(client, rule, ids),
        "/assets/<project_id>/<asset_id>/status": lambda: {"status": "retired"},
        "/assets/new": lambda: {**FIELDS_OF[rule], "project": make_project(client)["id"]},
        "/eudr/fill": lambda: {**FIELDS_OF[rule], "only": make_project(client)["id"]},
        "/members/<member_id>/remove": dict,
        "/members/<member_id>/role": lambda: {"role": "editor"},
        "/members/invite": lambda: {"email": new_email(), "role": "viewer"},
        "/profile/name": lambda: {"name": "Another Name"},
        "/projects/archive": lambda: {"ids": make_project(client)["id"]},
        "/projects/restore": lambda: {"ids": _archived(client)},
        "/settings": lambda: {"name": "Another name"},
        "/applications/<app_id>/secret": lambda: _mark(client, ids["app_id"]),
        "/imports/<import_id>/apply": lambda: {"looked_at": _looked_at(client, ids["import_id"])},
        "/imports/<import_id>/change": lambda: {"match": "name"},
        "/imports/<import_id>/leave-out": lambda: {"listed": "1"},
        "/api-keys/new": lambda: _CREDENTIAL,
        "/service-tokens/new": lambda: _CREDENTIAL,
        "/webhooks/<webhook_id>/replay": lambda: {"since": "2020-01-01T00:00", "which": "all"},
    }
    return others.get(rule, lambda: dict(FIELDS_OF.get(rule, FIELDS)))()


def _named(client: Client, rule: str, ids: dict[str, str]) -> dict[str, str]:
    """The name of what is deleted."""
    found = client.get(f"/v1/projects/{ids['project_id']}")
    if rule.startswith("/assets"):
        found = client.get(f"/v1/projects/{ids['project_id']}/assets/{ids['asset_id']}")
    return {"confirmation": found.json["data"]["name"]}


def _mark(client: Client, app_id: str) -> dict[str, str]:
    with client.app.app_context():
        found = find_application(client.account_id, app_id)
    assert found is not None
    return {"overlap_hours": "24", "mark": found["secret_mark"]}


def _looked_at(client: Client, import_id: str) -> str:
    updated_at: str = client.get(f"/v1/imports/{import_id}").json["data"]["updated_at"]
    return updated_at


def _archived(client: Client) -> str:
    project_id: str = make_project(client)["id"]
    client.post(f"/v1/projects/{project_id}/archive")
    return project_id


def _things(client: Client, route: Route) -> dict[str, str]:
    """What the path names, in the state in which the form is accepted."""
    ids = things(client, route)
    if route.rule.endswith("/undo"):
        ids["import_id"] = make_import(client, "applied")
    if route.rule == "/members/<member_id>/invite":
        ids["member_id"] = make_invited(client)["id"]
    if route.rule == "/service-tokens/<credential_id>/revoke":
        ids["credential_id"] = make_service_token(client).credential_id
    if route.rule == "/members/<member_id>/role":
        ids["member_id"] = make_member(client, "viewer").id
    return ids
