"""``flask limiter limits`` prints what the service holds each route against: no more, no less."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask, request
from flask.cli import FlaskGroup

from app.db.extensions import db
from app.limits.storage import WindowKey, WindowStorage
from app.limits.windows import LimitResult
from app.models import User
from app.policy import rate_limits as policy
from app.policy.rate_limits import OGC_PER_MINUTE, PER_DAY, PER_MINUTE, QUESTIONS, Limit
from config import ROOT
from tests.auth.test_page_matrix import routes, things
from tests.make import (
    Browser,
    Client,
    invitation_token,
    link_in,
    mails_to,
    make_account,
    make_application,
    make_invited,
    make_operator,
    new_email,
    second_app,
    sign_up,
)
from tests.make.browser import PASSWORD
from tests.make.oauth import refresh
from tests.oauth.support import tokens_of
from tests.pages.support import signed_in_browser
from tests.people.second_factor.support import give, give_password, turn_on
from tests.people.single_sign_on.fake_provider import FakeProvider, fake_provider
from tests.people.single_sign_on.support import leave

Held = dict[str, set[str]]  # of each endpoint

_ROUTE = re.compile(r"[├└]── (\S+): /\S*")
_LIMIT = re.compile(r"[│ ]   [├└]── (.+)")
_WINDOWS = {
    (row.name, row.requests): str(row) for row in vars(policy).values() if isinstance(row, Limit)
}
CHAT = {"chat_base_url": "http://127.0.0.1:9/v1", "chat_model": "forest-1"}


def command(app: Flask, *arguments: str) -> str:
    """What a command of Flask-Limiter prints."""
    group = FlaskGroup(create_app=lambda: app, load_dotenv=False)
    done = CliRunner().invoke(group, ["limiter", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def printed(app: Flask) -> Held:
    """The limits of each endpoint, as ``flask limiter limits`` has them."""
    found: Held = {}
    for line in command(app, "limits").splitlines():
        if route := _ROUTE.fullmatch(line):
            of_endpoint = found.setdefault(route[1], set())
        elif limit := _LIMIT.fullmatch(line):
            of_endpoint.add(limit[1])
    return found


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    """What requests are held against, as they come."""
    found: Held = defaultdict(set)
    hit_windows, hit_account = WindowStorage.hit_windows, WindowStorage.hit_account

    def windows(self: WindowStorage, keys: Sequence[WindowKey]) -> LimitResult | None:
        for key in keys:
            name = key.client.partition(":")[0]
            limit = str(QUESTIONS) if name == "questions" else _WINDOWS[name, key.limit]
            found[request.endpoint or ""].add(limit)
        return hit_windows(self, keys)

    def account(self: WindowStorage, *arguments: Any) -> LimitResult | None:
        per_minute = OGC_PER_MINUTE if arguments[-1].startswith("ogc:") else PER_MINUTE
        found[request.endpoint or ""] |= {str(per_minute), str(PER_DAY)}
        return hit_account(self, *arguments)

    monkeypatch.setattr(WindowStorage, "hit_windows", windows)
    monkeypatch.setattr(WindowStorage, "hit_account", account)
    return found


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with fake_provider() as made:
        yield made


@pytest.fixture(scope="module")
def site(app: Flask, provider: FakeProvider) -> Iterator[Flask]:
    """An instance with all routes in use."""
    with second_app(app, **provider.settings, **CHAT) as made:
        yield made


def test_the_routes_are_those_of_the_application(site: Flask) -> None:
    assert set(printed(site)) == {rule.endpoint for rule in site.url_map.iter_rules()} - {"static"}


@pytest.mark.parametrize(("document", "base"), [("/v1/openapi.json", ""), ("/ogc/api", "/ogc")])
def test_what_is_limited_has_429_in_the_description(
    client: Client, document: str, base: str
) -> None:
    limited, adapter = printed(client.app), client.app.url_map.bind("")
    described: Any = client.get(document).json
    for path, methods in described["paths"].items():
        for method in set(methods) & {"get", "post", "put", "patch", "delete"}:
            endpoint, _ = adapter.match(re.sub("{[^}]*}", "x", base + path), method.upper())
            is_said = "429" in methods[method]["responses"]
            assert bool(limited[endpoint]) == is_said, f"{method} {path}"


def test_the_page_shows_what_the_command_prints(app: Flask) -> None:
    shown = command(app, "limits", "--path", "/api/chat", "--method", "POST")
    assert f"```\n{shown}```" in (ROOT / "docs/limits.md").read_text()


def test_the_configuration(app: Flask) -> None:
    shown = command(app, "config")
    assert "WindowStorage" in shown
    assert "FixedWindowStrategy" in shown
    assert "OK" in shown


@pytest.mark.slow
@pytest.mark.provokes(503)
def test_what_is_printed_is_what_limits(site: Flask, provider: FakeProvider, held: Held) -> None:
    _open_everything(site)
    _ask_the_chat(site)
    _refresh_tokens(site)
    _follow_mailed_links(site)
    _use_a_second_factor(site)
    _sign_in_at_the_provider(site, provider)
    expected = printed(site)
    assert {endpoint: held[endpoint] for endpoint in expected} == expected


def _open_everything(site: Flask) -> None:
    """Every method of every route, as owner and operator, as a program, and as nobody."""
    client = make_account(site)
    make_operator(client, client.owner_id)
    pages = {(route.method, route.rule) for route in routes()}
    for route in routes():
        ids = things(client, route)
        for browser in (signed_in_browser(client, client.owner_id), Browser(site)):
            route.open(browser, ids)
    for rule in site.url_map.iter_rules():
        for method in (rule.methods or set()) - {"HEAD"}:
            path = re.sub(r"<[^>]+>", "x", rule.rule)
            if (method, re.sub(r"<\w+:", "<", rule.rule)) not in pages:
                site.test_client().open(path, method=method)
                key = {"Authorization": f"Bearer {client.token}"}
                site.test_client().open(path, method=method, headers=key)


def _ask_the_chat(site: Flask) -> None:
    client = make_account(site, plan="pro")
    assert client.post("/api/chat", json={"message": "How many?"}).status_code == 503


def _refresh_tokens(site: Flask) -> None:
    client = make_account(site)
    application = make_application(client)
    assert refresh(site, application, tokens_of(client, application)["refresh_token"]).json


def _follow_mailed_links(site: Flask) -> None:
    """The forms at which one arrives with a token."""
    client, email = make_account(site), new_email()
    browser = Browser(site)
    browser.get("/register")
    browser.submit(name="Jo", email=email, password=PASSWORD, account_name="Hazel Woods")
    browser.get(link_in(mails_to(site, email)[-1]))
    browser.submit(password=PASSWORD)
    browser = Browser(site)
    browser.get("/forgot-password")
    browser.submit(email=email)
    browser.get(link_in(mails_to(site, email)[-1]))
    browser.submit(password=PASSWORD)
    browser.get("/profile")
    browser.submit("/profile/password", password=PASSWORD, new_password="short")
    owner = signed_in_browser(client, client.owner_id)
    owner.get("/profile")
    owner.submit("/profile/verify-email")
    with site.app_context():
        of_owner = db.session.get_one(User, client.owner_id).email
    owner.get(link_in(mails_to(site, of_owner)[-1]))
    owner.submit()
    make_invited(client, email=(invited := new_email()))
    browser = Browser(site)
    browser.get(f"/invitations/{invitation_token(client, invited)}")
    browser.submit(name="Ada Birch", password=PASSWORD)


def _use_a_second_factor(site: Flask) -> None:
    factor = turn_on(sign_up(site, email := new_email()))
    give(give_password(site, email), value=factor.wrong())


def _sign_in_at_the_provider(site: Flask, provider: FakeProvider) -> None:
    def arrive(email: str) -> Browser:
        browser = Browser(site)
        browser.get(provider.sign_in(leave(browser), email=email))
        return browser

    sign_up(site, with_password := new_email())
    arrive(with_password).submit(password="not that one")
    arrive(without := new_email()).submit(account_name="Birch Hill")
    browser = arrive(without)
    browser.submit("/login/single-sign-on/mail")
    browser.get(link_in(mails_to(site, without)[-1]))
    browser.submit()
