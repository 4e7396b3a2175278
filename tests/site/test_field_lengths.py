"""Every field of every form and every query has a length, which is checked before anything looks at
its text; and a text of that length costs little, whatever it says.

The forms are those of the URL map. Their fields are those that pages show and that views read while
a form is sent, so that a new one is in these tests at once.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar, Final, NamedTuple

import pytest
from flask import Flask
from werkzeug.datastructures import ImmutableMultiDict

from app.auth.sessions import start_session
from app.db.transactions import transaction
from app.http.urls import is_ogc
from app.policy.forms import FIELD_LENGTH, FIELD_LENGTHS
from config import ROOT
from tests.auth.test_page_matrix import Route, routes, things
from tests.make import Browser, Client, make_account, make_operator, new_email
from tests.pages.support import MULTIPART, browser_of, several_parts
from tests.processor_time import is_within, seconds_taken
from tests.site.form_fields import FIELDS, FIELDS_OF, page_rules

SECONDS: Final = 0.1  # of processor time, for a form on an idle machine
# A beginning, what is repeated, and an end: expressions that try again and again take long for it.
TEXTS: Final = (
    ("N", " ", "x"),
    ("N", "N,a", "\nx"),
    ("", "1", "x"),
    ("", "1,", "x"),
    ("", ",", "x"),
    ("", "<a ", ">"),
    ("", '"', ""),
    ("", "[", ""),
    ("((", "1 1,", "("),
    ("", "°", "x"),
    ("", "\n", "x"),
    ('{"a":', '"\\', ""),
)
_NO_PATH: Final = re.compile("<[^>]+>")
_SIGNED_OUT: Final = ("/login", "/register", "/forgot-password", "/reset-password")


class Recorded(ImmutableMultiDict[str, str]):
    """A form or a query of which it is recorded what is read."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> str:
        self.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)

    def getlist(self, key: str, *args: Any, **options: Any) -> list[Any]:
        self.names.add(key)
        return super().getlist(key, *args, **options)


class Sent(NamedTuple):
    """Where a form or a query is sent to, by whom, and with what."""

    route: Route
    path: str
    browser: Browser
    fields: dict[str, str]
    names: frozenset[str]

    def open(self, **fields: str) -> None:
        """Send it with these fields in place of its own."""
        sent: dict[str, Any] = {"query_string": fields}
        if self.route.method == "POST":
            body = several_parts(**self.fields | fields)
            sent = {"data": body, "content_type": MULTIPART}
        client, headers = self.browser.client, self.browser.headers
        address = {"REMOTE_ADDR": Browser.address()}
        response = client.open(
            self.path,
            method=self.route.method,
            headers=headers,
            environ_overrides=address,
            **sent,
        )
        assert self.route.method == "POST" or response.status_code != 429


def length_of(name: str) -> int:
    return FIELD_LENGTHS.get(name, FIELD_LENGTH)


def filled(text: tuple[str, str, str], length: int) -> str:
    start, repeated, end = text
    return (start + repeated * length)[: length - len(end)] + end


def test_every_form_refuses_a_field_that_is_too_long(app: Flask, subtests: pytest.Subtests) -> None:
    visitor, tried = app.test_client(), set[str]()
    for rule, form in page_rules().items():
        path = _NO_PATH.sub("1", rule)
        if is_ogc(rule):  # takes no forms
            continue
        names = {*FIELDS_OF.get(rule, FIELDS)} - {form.field} - tried
        for name in ("csrf_token", *sorted(names)):  # others that it has were tried elsewhere
            tried.add(name)
            text = "x" * length_of(name)
            with subtests.test(f"{rule} {name}"):
                longer = visitor.post(path, data={name: f"{text}x"})
                assert longer.status_code == 422, longer.text  # and not 403: without a token
                message = longer.json["error"]["message"]
                assert f"“{name}” has more than {len(text):,} characters" in message
        with subtests.test(rule):
            assert visitor.post(path, data={name: text}).status_code == 403
            assert visitor.post(path, data={"n" * (FIELD_LENGTH + 1): ""}).status_code == 422


def test_every_page_refuses_a_query_that_is_too_long(app: Flask, subtests: pytest.Subtests) -> None:
    visitor = app.test_client()
    for route in routes():
        path = _NO_PATH.sub("1", route.rule)
        for name in ("search", "next"):
            with subtests.test(f"{route.name} {name}"):
                query = {name: "x" * (length_of(name) + 1)}
                response = visitor.open(path, method=route.method, query_string=query)
                assert response.status_code == 400
                assert f"“{name}”" in response.json["error"]["message"]


def test_a_body_without_a_post_has_the_same_lengths(app: Flask) -> None:
    visitor, data = app.test_client(), {"second_factor_code": "1" * (FIELD_LENGTH + 1)}
    assert visitor.get("/login/second-factor", data=data).status_code == 422
    chunked = {"Transfer-Encoding": "chunked"}
    assert visitor.get("/login/second-factor", headers=chunked).status_code == 400


def test_a_browser_is_told_which_field_is_too_long(client: Client) -> None:
    browser = browser_of(client)
    page = browser.send("/assets/new", name="x" * (FIELD_LENGTH + 1))
    assert page.status == 422
    assert f"“name” has more than {FIELD_LENGTH:,} characters. Shorten it" in page.text
    assert "This form is invalid" in page.title
    assert page.response.headers["HX-Reswap"] == "none"  # in place of the form of a project


def test_documents_have_the_length() -> None:
    for page in ["limits", "building-pages"]:
        assert f"{FIELD_LENGTH:,} characters" in (ROOT / f"docs/{page}.md").read_text()


@pytest.mark.slow
def test_no_field_of_its_length_takes_long(
    app: Flask, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setattr(app.request_class, "parameter_storage_class", Recorded)
    next_text = itertools.cycle(TEXTS)
    known = defaultdict[str, set[str]](set)
    for sent in _everything_sent(app):
        method, names = sent.route.method, sent.names - {"csrf_token"}
        together = dict.fromkeys(names, next(next_text))
        tries = [together] if together else []
        for name in sorted(names - known[method]):  # by itself on the first page that has it
            is_long = name in FIELD_LENGTHS and method == "POST"
            tries += [{name: text} for text in (TEXTS if is_long else (next(next_text),))]
        known[method] |= names
        for texts in tries:
            fields = {name: filled(text, length_of(name)) for name, text in texts.items()}
            with subtests.test(f"{sent.route.name} {texts}"):
                taken = seconds_taken(lambda s=sent, f=fields: s.open(**f))
                assert is_within(taken, SECONDS), taken
    assert {"latitude", "metadata_value", "redirect_uris", "ip_allowlist"} <= known["POST"]
    assert {"latitude", "next", "search", "ids"} <= known["GET"]


def _everything_sent(app: Flask) -> Iterator[Sent]:
    """Each page, with the fields that it shows or that are read there."""
    reader = _account(app)
    shared = things(reader, *routes())
    for route in routes():
        is_form = route.method == "POST"
        client = _account(app) if is_form else reader  # it may end the account, or its things
        ids = things(client, route) if is_form else shared
        browser = Browser(app) if route.rule.startswith(_SIGNED_OUT) else _browser(client, route)
        typed = {**FIELDS_OF.get(route.rule, FIELDS), "email": new_email()}
        fields = {**typed, **_token(browser)} if is_form else {}
        page = browser.get(route.path(ids), follow=False)
        own = [form for form in page.forms if is_form and (form.action or page.path) == page.path]
        names = {name for form in own for name in form.fields}
        sent = Sent(route, route.path(ids), browser, fields, frozenset())
        Recorded.names.clear()
        sent.open()
        yield sent._replace(names=frozenset(Recorded.names | names | fields.keys()))


def _account(app: Flask) -> Client:
    """An account whose owner may see and do everything."""
    client = make_account(app)
    make_operator(client)
    return client


def _token(browser: Browser) -> dict[str, str]:
    """The token of the browser's forms."""
    forms = browser.get("/accounts").forms  # or those of the page to sign in
    return {"csrf_token": next(form.fields["csrf_token"] for form in forms)}


def _browser(client: Client, route: Route) -> Browser:
    """The owner's, who is asked whether it is them only before the whole instance changes."""
    confirmed = not route.rule.startswith("/operator")
    with client.app.app_context(), transaction():
        token = start_session(
            client.owner_id, client.account_id, address="", browser="", confirmed=confirmed
        )
    browser = Browser(client.app)
    browser.client.set_cookie("canopy_session", token)
    return browser
