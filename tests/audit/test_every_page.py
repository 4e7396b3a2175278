"""Every form of a page that changes something in the account has exactly one entry."""

from __future__ import annotations

from typing import Any, Final

import pytest

from app.oauth.applications.service import find_application
from tests.auth.test_page_matrix import Route, routes, things
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
from tests.site.form_fields import FIELDS_OF

# The action that is entered; None: nothing is changed in the account.
ACTIONS: Final[dict[str, str | None]] = {
    "/accounts/switch": None,
    "/api-keys/<credential_id>/revoke": "api_key.revoked",
    "/api-keys/new": "api_key.created",
    "/applications/<app_id>": "application.updated",
    "/applications/<app_id>/delete": "application.deleted",
    "/applications/<app_id>/former-secret/end": "application.former_secret_ended",
    "/applications/<app_id>/secret": "application.secret_rotated",
    "/applications/new": "application.created",
    "/assets/<project_id>/<asset_id>/delete": "asset.deleted",
    "/assets/<project_id>/<asset_id>/edit": "asset.updated",
    "/assets/<project_id>/<asset_id>/status": "asset.updated",
    "/assets/export": "asset.exported",
    "/assets/new": "asset.created",
    "/audit-log/export": "audit_log.exported",
    "/eudr/fill": "project.updated",
    "/imports/<import_id>/apply": "import.applied",
    "/imports/<import_id>/cancel": "import.canceled",
    "/imports/<import_id>/change": "import.updated",
    "/imports/<import_id>/leave-out": "import.updated",
    "/imports/<import_id>/undo": "import.undone",
    "/imports/new": "import.created",
    "/members/<member_id>/invite": "member.invited",
    "/members/<member_id>/remove": "member.removed",
    "/members/<member_id>/role": "member.updated",
    "/members/invite": "member.invited",
    "/profile/name": "person.updated",
    "/profile/sessions/end-others": "person.sessions_ended",
    "/profile/times": "person.updated",
    "/projects/<project_id>/archive": "project.archived",
    "/projects/<project_id>/boundaries/<boundary_id>/restore": "project.boundary.updated",
    "/projects/<project_id>/delete": "project.deleted",
    "/projects/<project_id>/edit": "project.boundary.updated",
    "/projects/<project_id>/restore": "project.restored",
    "/projects/archive": "project.archived",
    "/projects/check": None,
    "/projects/export": "project.exported",
    "/projects/new": "project.created",
    "/projects/restore": "project.restored",
    "/service-tokens/<credential_id>/revoke": "service_token.revoked",
    "/service-tokens/new": "service_token.created",
    "/settings": "account.updated",
    "/settings/export": "account.exported",
    "/webhooks/<webhook_id>/delete": "webhook.deleted",
    "/webhooks/<webhook_id>/disable": "webhook.updated",
    "/webhooks/<webhook_id>/edit": "webhook.updated",
    "/webhooks/<webhook_id>/enable": "webhook.updated",
    "/webhooks/<webhook_id>/logs/<log_id>/redeliver": "webhook.redelivered",
    "/webhooks/<webhook_id>/replay": "webhook.replayed",
    "/webhooks/<webhook_id>/retry": "webhook.retried",
    "/webhooks/<webhook_id>/rotate": "webhook.secret_rotated",
    "/webhooks/<webhook_id>/test": "webhook.tested",
    "/webhooks/new": "webhook.created",
    "/welcome/key": "api_key.created",
}
# Flows of their own: tests/audit/test_people.py, tests/people/single_sign_on/test_audit.py,
# tests/deletion.
_OF_PEOPLE: Final = (
    *("/login", "/logout", "/register", "/register/confirm/<token>", "/forgot-password"),
    *("/reset-password/<token>", "/verify-email/<token>", "/invitations/<token>"),
    *("/accounts", "/accounts/leave", "/applications/end", "/oauth/authorize"),
    *("/profile/password", "/profile/sessions/<session_id>/end", "/profile/verify-email"),
    *("/login/single-sign-on/new", "/login/single-sign-on/link", "/login/single-sign-on/mail"),
    *("/login/single-sign-on/link/<token>", "/profile/sign-ins/<identity_id>/unlink"),
    *("/invitations", "/invitations/decline", "/profile/deletion"),
    *("/settings/deletion", "/settings/deletion/cancel", "/accounts/<slug>/deletion"),
)
_OF_OPERATORS: Final = "/operator"  # likewise, in other logs: tests/pages/operator/test_audit.py
_FACTOR: Final = "/second-factor"  # likewise: tests/people/second_factor/test_audit.py
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
    return [
        each
        for each in routes()
        if each.method == "POST"
        and each.rule not in _OF_PEOPLE
        and _FACTOR not in each.rule
        and not each.rule.startswith(_OF_OPERATORS)
    ]


def test_the_table_has_every_form() -> None:
    assert sorted(ACTIONS) == sorted(each.rule for each in posts())


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
            expected = ACTIONS[route.rule]
            assert [each["action"] for each in found] == ([expected] if expected else [])
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
    return others.get(rule, lambda: dict(FIELDS_OF.get(rule, {})))()


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
