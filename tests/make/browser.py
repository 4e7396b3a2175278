"""A browser without scripts: it follows links, fills forms in and keeps cookies."""

from __future__ import annotations

import ipaddress
import itertools
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask import Flask, Response
from werkzeug.test import TestResponse

from app.account.service import open_account
from app.audit.origin import Actor
from app.auth.memberships import memberships_of
from app.auth.people import find_person
from app.auth.sessions import start_session
from app.db.extensions import db
from app.db.transactions import transaction
from app.people.sign_up import create_person
from app.security.passwords import hash_password
from app.site.signed_in import sign_in as set_session

_addresses = itertools.count(12 << 24 | 1)  # 12.0.0.1

PASSWORD = "moss under old larches"


@dataclass
class Form:
    """A form of a page: where it leads, and what it would send as it is."""

    action: str
    enctype: str = "application/x-www-form-urlencoded"
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[dict[str, str]] = field(default_factory=list)


class Page(HTMLParser):
    """What a page shows."""

    def __init__(self, path: str, response: TestResponse) -> None:
        super().__init__()
        self.path, self.response, self.status = path, response, response.status_code
        self.forms: list[Form] = []
        self.words: list[str] = []
        self.links: list[str] = []
        self._inside: Form | None = None
        self._text = ""  # the name of the field of several lines that is being read
        if response.mimetype == "text/html":
            self.feed(response.get_data(as_text=True))

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def title(self) -> str:
        return self.text.partition(" · Canopy")[0]

    @property
    def has_form_action(self) -> bool:
        """Whether its policy bounds where its forms end, and the redirects that follow them."""
        return "form-action" in self.response.headers["Content-Security-Policy"]

    def form(self, action: str | None = None) -> Form:
        """The form that leads there; by default the one of the page's own address."""
        wanted = self.path if action is None else action
        found = [form for form in self.forms if (form.action or self.path) == wanted]
        assert found, f"no form leads to {wanted} on {self.path}: {self.text}"
        return found[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = Form(values.get("action", ""), values.get("enctype", Form.enctype))
            self.forms.append(self._inside)
        elif tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "button" and self._inside is not None:
            self._inside.buttons.append(values)
        elif tag == "input" and self._inside is not None and _is_sent(values):
            self._inside.fields[values["name"]] = values.get("value", "")
        elif tag == "textarea" and self._inside is not None:
            self._text = values["name"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = None
        elif tag == "textarea":
            self._text = ""

    def handle_data(self, data: str) -> None:
        if self._text and self._inside is not None:
            self._inside.fields[self._text] = data
        self.words.append(data)


def _is_sent(attributes: dict[str, str]) -> bool:
    is_choice = attributes.get("type") in ("radio", "checkbox")
    return "name" in attributes and (not is_choice or "checked" in attributes)


class Browser:
    """One browser of one person."""

    def __init__(self, app: Flask, address: str | None = None) -> None:
        """
        Args:
            address: where it is; by default at another address with each request, for tests that
                are not about the limits of addresses.
        """
        self.app = app
        self._address = address
        self.client = app.test_client()
        self.headers = {"Accept": "text/html", "User-Agent": "Mozilla/5.0 (Linux) Firefox/140.0"}
        self.page: Page | None = None

    @staticmethod
    def address() -> str:
        """An address that nobody has come from yet."""
        return str(ipaddress.ip_address(next(_addresses)))

    def get(self, path: str, *, follow: bool = True, **options: Any) -> Page:
        """A page, after all redirects within the service."""
        return self._open("GET", path, follow=follow, **options)

    def submit(
        self, action: str | None = None, *, follow: bool = True, press: str = "", **fields: str
    ) -> Page:
        """Fill in a form of the page at hand and send it.

        Args:
            action: where the form leads; by default to the page's own address.
            press: the value of the button to press, where it matters.
        """
        assert self.page is not None
        form = self.page.form(action)
        data = form.fields | fields
        for button in form.buttons:
            if press and button.get("value") == press:
                data[button["name"]] = press
        path, kind = form.action or self.page.path, form.enctype
        return self._open("POST", path, follow=follow, data=data, content_type=kind)

    def send(self, path: str, headers: dict[str, str] | None = None, **fields: Any) -> Page:
        """A post that no form of ours made."""
        return self._open("POST", path, follow=False, data=fields, headers=headers or {})

    def post_bytes(self, path: str, body: bytes, content_type: str) -> Page:
        """A post of a body as it is."""
        return self._open("POST", path, follow=False, data=body, content_type=content_type)

    def _open(self, method: str, path: str, *, follow: bool, **options: Any) -> Page:
        headers = self.headers | options.pop("headers", {})
        path = path.removeprefix(self.app.config["SETTINGS"].public_url)
        address = self._address or self.address()
        options.setdefault("environ_overrides", {"REMOTE_ADDR": address})
        response = self.client.open(path, method=method, headers=headers, **options)
        location = response.headers.get("Location", "")
        if follow and response.status_code in (302, 303) and location.startswith("/"):
            return self._open("GET", location, follow=True)
        page = Page(path, response)
        if page.status != 303:
            self.page = page
        return page


def sign_up(
    app: Flask, email: str, *, name: str = "Jo Hazel", account: str = "Hazel Woods"
) -> Browser:
    """The browser of a person who has signed up, and looks at their accounts.

    Without the pages of signing up, which take ten times as long.
    """
    browser = Browser(app)
    with app.test_request_context(
        "/register",
        method="POST",
        headers=browser.headers,
        environ_overrides={"REMOTE_ADDR": Browser.address()},
    ):
        response = Response()
        set_session(response, *_add_person(email, name, account), confirmed=True)
        db.session.commit()
    for cookie in response.headers.getlist("Set-Cookie"):
        key, _, value = cookie.partition(";")[0].partition("=")
        browser.client.set_cookie(key, value)
    browser.get("/accounts")
    return browser


def make_person(
    app: Flask, email: str, *, name: str = "Jo Hazel", account: str = "Hazel Woods"
) -> None:
    """A new person who has signed up, and has an account."""
    with app.app_context(), transaction():
        _add_person(email, name, account)


def _add_person(email: str, name: str, account: str) -> tuple[str, str]:
    """Add a person with an account in the open transaction. Returns their ids."""
    person = create_person(email, name, hash_password(PASSWORD))
    assert person is not None, f"{email} is taken"
    db.session.flush()
    return person.id, open_account(account, person, actor=Actor.person(person.id, email)).id


def signed_in(app: Flask, email: str) -> Browser:
    """The browser of a person who has just given their password, by a session made directly."""
    return signed_in_browser(app, *_person(app, email))


def _person(app: Flask, email: str) -> tuple[str, str | None]:
    """The id of a person, and that of their first account."""
    with app.app_context():
        person = find_person(email)
        assert person is not None
        user_id = person.id
        account_id = next((row.id for row in memberships_of(user_id)), None)
        return user_id, account_id


def signed_in_browser(
    app: Flask, user_id: str, account_id: str | None, *, confirmed: bool = True
) -> Browser:
    """The browser of a person who works in this account.

    Args:
        confirmed: whether they have just given their password or second factor.
    """
    browser = Browser(app)
    where = {"address": browser.address(), "browser": browser.headers["User-Agent"]}
    with app.app_context(), transaction():
        token = start_session(user_id, account_id, confirmed=confirmed, **where)
    browser.client.set_cookie("canopy_session", token)
    return browser


def sign_in(app: Flask, email: str, password: str = PASSWORD) -> Browser:
    """The browser of a person who has just signed in by the page, and looks at their accounts."""
    browser = Browser(app)
    browser.get("/login")
    page = browser.submit(email=email, password=password)
    assert page.path in ("/accounts", "/projects", "/welcome"), page.text
    browser.get("/accounts")
    return browser
