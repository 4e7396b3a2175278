"""Who opens which page: every cell of roles and pages, and what others get instead."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

import pytest

from app.account.members.service import remove_member
from app.db.transactions import transaction
from app.site.account_pages import ACCOUNT_PAGES
from app.site.pages import PageBlueprint
from tests.api.operations import FILLERS, Ids, Operation, bare_app, fill
from tests.auth.page_table import PAGES, ROLES
from tests.make import (
    Browser,
    Client,
    make_account,
    make_application,
    make_boundary_entry,
    make_key,
    make_member,
    make_operator,
    operator_of,
)
from tests.make.browser import Page
from tests.pages.support import signed_in_browser

# Things of an account that paths name, besides those of the API.
MORE_FILLERS: Final = {
    "app_id": lambda client, _: make_application(client).id,
    "credential_id": lambda client, _: make_key(client).credential_id,
    "audit_id": lambda client, _: make_boundary_entry(client),
    "account_id": lambda client, _: client.account_id,
    "slug": lambda client, _: client.get("/v1/account").json["data"]["slug"],
}
# Of nobody, or of the person who asks.
OF_PEOPLE: Final = dict.fromkeys(("token", "session_id", "passkey_id", "identity_id"), "x")
# Fields without which a page answers 400 to those who may open it.
FIELDS: Final[dict[str, dict[str, str]]] = {
    "POST /assets/<project_id>/<asset_id>/status": {"status": "active"},
}
# These are not found without a token, or an account, that there is; an API key is no token.
NOT_FOUND: Final = (
    "<token>", "/service-tokens/<credential_id>/revoke", "/accounts/switch", "/accounts/leave",
    "/accounts/<slug>/deletion",
    "/login/single-sign-on", "/profile/sign-ins/link",  # without a provider
    "/map/basemap.pmtiles",  # before anybody has made it
)  # fmt: skip
OPEN: Final = (200, 302, 303, 400, 409, 412, 422, 429)


class Route(NamedTuple):
    """One method of one page."""

    method: str
    rule: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.rule}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Things of the account that its path names."""
        return tuple(name for name in re.findall(r"<(\w+)>", self.rule) if name not in OF_PEOPLE)

    def path(self, ids: Ids) -> str:
        return re.sub(r"<(\w+)>", lambda found: (ids | OF_PEOPLE)[found[1]], self.rule)

    def open(self, browser: Browser, ids: Ids, token: str = "") -> Page:
        """The answer to somebody who sends the form, if it is one, as they have it.

        Args:
            token: that of the forms in this browser, if it is known.
        """
        path = self.path(ids)
        if self.method == "GET":
            return browser.get(path, follow=False)
        fields = {"csrf_token": token or token_of(browser)} | FIELDS.get(self.name, {})
        return browser.send(path, **fields)


def token_of(browser: Browser) -> str:
    """The token of the forms in a browser."""
    page = browser.get("/accounts", follow=False)
    form = page.form("/logout") if page.status == 200 else browser.get("/login").form("/login")
    return form.fields["csrf_token"]


@cache
def routes() -> tuple[Route, ...]:
    """Every page."""
    app = bare_app()
    return tuple(
        Route(method, re.sub(r"<\w+:", "<", rule.rule))
        for rule in sorted(app.url_map.iter_rules(), key=str)
        if isinstance(app.blueprints.get(rule.endpoint.rpartition(".")[0]), PageBlueprint)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    )


def things(client: Client, *about: Route) -> Ids:
    """One of each thing that these pages are about."""
    names = {name for route in about for name in route.arguments}
    ids = fill(client, Operation("", "", tuple(name for name in FILLERS if name in names), ""))
    others = sorted(names - ids.keys())
    return ids | {name: MORE_FILLERS[name](client, ids) for name in others}


def wrong(who: str, route: Route, answer: Page) -> str:
    """What is wrong with an answer; empty if it is as the table says."""
    is_open = who in PAGES[route.name].who
    target = answer.response.headers.get("Location", "")
    expected: tuple[int, ...] = (403,)
    is_of_operators = route.rule.startswith("/operator")
    if is_open:
        missing = (404,) if route.rule.endswith(NOT_FOUND) else ()
        expected = (*OPEN, *missing)
    elif who == "stranger" or (who in ("no account", "operator") and not is_of_operators):
        expected = (303,)
    leads = {"no account": "/accounts", "operator": "/accounts", "stranger": "/login?next="}
    if answer.status not in expected:
        return f"{answer.status}"
    if 303 in expected and not is_open and not target.startswith(leads[who]):
        return f"leads to {target}"
    if is_open and target.startswith("/login?next="):
        return "asks to sign in"
    if not answer.has_form_action:  # as here no form leads to an application
        return "may end elsewhere"
    return ""


def person(client: Client, who: str) -> str:
    """The id of somebody with a role, or of somebody who belongs to no account: of an operator,
    too."""
    if who == "owner":
        return client.owner_id
    is_member = who in ROLES
    member = make_member(client, who if is_member else "viewer")
    if who == "operator":
        make_operator(client, member.id)
    if not is_member:
        with client.app.app_context(), transaction():
            remove_member(operator_of(client), member.id)
    return member.id


def test_the_table_has_every_page() -> None:
    assert sorted(PAGES) == sorted(route.name for route in routes())


def test_the_table_says_of_each_form_what_it_enters() -> None:
    assert all(bool(row.entry) is name.startswith("POST ") for name, row in PAGES.items())


@pytest.mark.parametrize(
    "who",
    [
        "viewer",
        "editor",
        "stranger",
        *(
            pytest.param(who, marks=pytest.mark.slow)
            for who in (*ROLES[2:], "no account", "operator")
        ),
    ],
)
def test_what_somebody_opens(client: Client, who: str, subtests: pytest.Subtests) -> None:
    user_id = "" if who == "stranger" else person(client, who)
    shared = things(client, *routes())

    def new_browser() -> Browser:
        return signed_in_browser(client, user_id) if user_id else Browser(client.app)

    def is_used_up(route: Route) -> bool:
        """Whether it may end what it is about, and the sessions of this person."""
        return route.method == "POST" and who in PAGES[route.name].who

    browser = new_browser()
    token = token_of(browser)
    for route in sorted(routes(), key=is_used_up):
        with subtests.test(f"{who}: {route.name}"):
            if is_used_up(route):
                page = route.open(new_browser(), things(client, route))
            else:
                page = route.open(browser, shared, token)
            assert not wrong(who, route, page)


@pytest.mark.parametrize("who", ROLES)
def test_the_menus_lead_where_somebody_may_go(client: Client, who: str) -> None:
    links = signed_in_browser(client, person(client, who)).get("/members").links
    for path in (*(each.path for each in ACCOUNT_PAGES), "/imports"):
        assert (path in links) is (who in PAGES[f"GET {path}"].who), path


def test_what_is_of_another_account_is_not_found(client: Client, subtests: pytest.Subtests) -> None:
    """Not even by an owner, whatever the page."""
    other, shared = make_account(client.app), things(client, *routes())
    browser = signed_in_browser(other, other.owner_id)
    token = token_of(browser)
    for route in routes():
        if route.arguments and not route.rule.startswith("/operator"):
            with subtests.test(route.name):
                assert route.open(browser, shared, token).status == 404


def test_a_form_without_its_token_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    """Also with the token of another browser."""
    ids, own = things(client, *routes()), signed_in_browser(client, client.owner_id)
    foreign = signed_in_browser(client, client.owner_id).get("/profile").form("/logout").fields
    for route in routes():
        if route.method == "POST":
            for browser, fields in ((own, {}), (own, foreign), (Browser(client.app), {})):
                with subtests.test(f"{route.name} {sorted(fields)}"):
                    assert browser.send(route.path(ids), **fields).status == 403
