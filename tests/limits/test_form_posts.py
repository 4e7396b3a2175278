"""How often the forms of pages may be posted (docs/limits.md, "Forms")."""

from __future__ import annotations

import itertools
import re

import pytest
from flask import Flask

from app.db.extensions import db
from app.jobs.valkey import valkey
from app.limits import counting
from app.models import User
from app.policy.rate_limits import (
    CLIENT_POSTS,
    FORM_POSTS,
    FORMS,
    LONG_FORM_POSTS,
    LONG_FORMS,
    SIGN_UPS,
)
from app.site.pages import PageBlueprint
from tests.make import (
    Browser,
    invitation_token,
    link_in,
    mails_to,
    make_account,
    make_invited,
    new_email,
    second_app,
    sign_up,
)
from tests.make.browser import PASSWORD, Page

OWNERS_PASSWORD = "correct horse battery"
WRONG = "wrong horse battery"
DEAD = "redis://127.0.0.1:9/0"


@pytest.fixture
def address() -> str:
    """An address of the network that all people of a test share."""
    return Browser.address()


def owner(app: Flask) -> str:
    """The email address of somebody with an account and a password."""
    client = make_account(app)
    with app.app_context():
        return db.session.get_one(User, client.owner_id).email


def post(app: Flask, path: str, address: str, **fields: str) -> Page:
    """Load a form in a fresh browser at an address, and send it."""
    browser = Browser(app, address)
    browser.get(path)
    return browser.submit(**fields)


def refused(page: Page) -> bool:
    """Whether a form is shown again for being sent too often, and says for how long."""
    if page.status != 429:
        return False
    seconds = page.response.headers["Retry-After"]
    assert f"Too many attempts. Please wait {seconds} second" in page.text
    assert 1 <= int(seconds) <= 60
    return True


def test_every_form_of_the_table_exists(app: Flask) -> None:
    rules = {
        rule.rule
        for rule in app.url_map.iter_rules()
        if "POST" in (rule.methods or ())
        and isinstance(app.blueprints.get(rule.endpoint.partition(".")[0]), PageBlueprint)
    }
    assert LONG_FORMS <= set(FORMS) <= rules
    assert (FORM_POSTS.requests, LONG_FORM_POSTS.requests, CLIENT_POSTS.requests) == (5, 20, 60)


@pytest.mark.slow
def test_a_long_form_may_be_corrected_more_often(app: Flask, address: str) -> None:
    browser = Browser(app, address)
    browser.get("/login")
    browser.submit(email=owner(app), password=OWNERS_PASSWORD)
    found = []
    for _ in range(21):
        browser.get("/api-keys/new")
        found.append(browser.submit("/api-keys/new", name="No permission"))
    assert [page.status for page in found] == [422] * 20 + [429]
    assert refused(found[-1])


@pytest.mark.slow
def test_people_behind_one_address_sign_in_at_once(app: Flask, address: str) -> None:
    """A training of an organisation, whose network has one address."""
    people = [owner(app) for _ in range(7)]
    pages = [post(app, "/login", address, email=each, password=OWNERS_PASSWORD) for each in people]
    assert [(page.status, page.path) for page in pages] == [(200, "/welcome")] * 7


def test_guesses_at_one_password_are_stopped(app: Flask, address: str) -> None:
    email = owner(app)
    found = [post(app, "/login", address, email=email, password=WRONG) for _ in range(7)]
    assert [page.status for page in found] == [422] * 5 + [429] * 2
    assert refused(found[-1])
    assert refused(post(app, "/login", address, email=email, password=OWNERS_PASSWORD))


def test_one_address_from_one_client_is_stopped_at_five(app: Flask, address: str) -> None:
    email = owner(app)
    variants = (email, email.upper(), f" {email} ", email.title())
    sent = itertools.cycle(variants)
    found = [post(app, "/forgot-password", address, email=next(sent)).status for _ in range(8)]
    assert found == [200] * 5 + [429] * 3
    assert len(mails_to(app, email)) < 6
    assert post(app, "/forgot-password", address, email=owner(app)).status == 200
    assert post(app, "/forgot-password", Browser.address(), email=email).status == 200


def test_sign_ups_from_one_client_are_stopped_for_a_day(
    app: Flask, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "SIGN_UPS", SIGN_UPS._replace(requests=2))
    fields = {"name": "Ada", "password": PASSWORD, "account_name": "Birch Hill"}
    people = [new_email("stranger") for _ in range(3)]
    pages = [post(app, "/register", address, email=each, **fields) for each in people]
    assert [page.status for page in pages] == [200, 200, 429]
    assert "Try again in 24 hours" in pages[-1].text
    assert [len(mails_to(app, each)) for each in people] == [1, 1, 0]
    assert post(app, "/register", Browser.address(), email=people[2], **fields).status == 200


@pytest.mark.slow
def test_many_addresses_from_one_client_are_stopped_at_sixty(app: Flask, address: str) -> None:
    paths = itertools.cycle(("/forgot-password", "/login"))
    browser = Browser(app, address)
    found = []
    for number in range(CLIENT_POSTS.requests + 2):
        browser.get(next(paths))
        page = browser.submit(email=f"nobody-{number}@example.org", password=WRONG)
        found.append(page.status)
    assert set(found[: CLIENT_POSTS.requests]) == {200, 422}
    assert found[CLIENT_POSTS.requests :] == [429, 429]
    assert browser.page is not None
    assert refused(browser.page)


@pytest.mark.slow
def test_what_is_refused_counts_in_no_window(app: Flask, address: str) -> None:
    """So that a script that insists on one address does not lock its whole network out."""
    email = owner(app)
    browser = Browser(app, address)
    for _ in range(CLIENT_POSTS.requests + 5):
        browser.get("/login")
        browser.submit(email=email, password=WRONG)
    assert post(app, "/login", address, email=owner(app), password=WRONG).status == 422


def test_each_form_has_its_own_window(app: Flask, address: str, email: str) -> None:
    for _ in range(5):
        post(app, "/login", address, email=email, password=WRONG)
    assert refused(post(app, "/login", address, email=email, password=WRONG))
    assert post(app, "/forgot-password", address, email=email).status == 200


def test_what_was_typed_is_kept_but_for_passwords(app: Flask, address: str, email: str) -> None:
    fields = {
        "name": "Ada Birch",
        "email": email,
        "password": PASSWORD,
        "account_name": "Birch Hill",
        "account_slug": "birch-hill",
    }
    for _ in range(5):
        assert post(app, "/register", address, **fields).status == 200
    page = post(app, "/register", address, **fields)
    assert refused(page)
    assert page.form().fields.items() >= (fields | {"password": ""}).items()
    assert PASSWORD not in page.response.get_data(as_text=True)
    assert "Problem · Sign up" in page.title


def test_after_the_time_it_names_a_form_is_taken_again(
    app: Flask, address: str, email: str
) -> None:
    for _ in range(6):
        page = post(app, "/forgot-password", address, email=email)
    assert refused(page)
    with app.app_context():
        for key in valkey().client.scan_iter(f"canopy:window:form:*{address}*"):
            valkey().client.delete(key)
    assert post(app, "/forgot-password", address, email=email).status == 200


def test_a_form_with_a_token_counts_by_the_token(app: Flask, address: str) -> None:
    email = owner(app)
    post(app, "/forgot-password", address, email=email)
    path = link_in(mails_to(app, email)[-1]).removeprefix(app.config["SETTINGS"].public_url)
    found = [post(app, path, address, password="short").status for _ in range(6)]
    assert found == [422] * 5 + [429]
    assert post(app, path, Browser.address(), password=PASSWORD).path == "/welcome"


def test_a_button_with_a_token_is_limited_too(
    app: Flask, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    email, client = owner(app), make_account(app)
    make_invited(client, email=email)
    path = f"/invitations/{invitation_token(client, email)}"
    browser = Browser(app, address)
    browser.get("/login")
    browser.submit(email=email, password=OWNERS_PASSWORD)
    token = browser.get(path).form().fields
    monkeypatch.setattr("app.pages.invitations.views.accept_invitation", lambda _: None)
    found = [browser.send(path, **token).status for _ in range(6)]
    assert found == [404] * 5 + [429]


def test_a_form_of_a_signed_in_person_counts_by_the_person(
    app: Flask, address: str, email: str
) -> None:
    sign_up(app, email)
    browser = Browser(app, address)
    browser.get("/login")
    browser.submit(email=email, password=PASSWORD)
    found = []
    for _ in range(6):
        browser.get("/profile")
        page = browser.submit("/profile/password", password=WRONG, new_password="short")
        found.append(page.status)
    assert found == [422] * 5 + [429]
    assert refused(page)
    assert page.form("/profile/name").fields["name"] == "Jo Hazel"


def test_opening_accounts_is_limited(app: Flask, address: str, email: str) -> None:
    browser = sign_up(app, email)
    browser._address = address
    found = []
    for _ in range(6):
        browser.get("/accounts")
        page = browser.submit("/accounts", account_name="Birch Hill", account_slug="Birch Hill")
        found.append(page.status)
    assert found == [422] * 5 + [429]
    assert refused(page)
    assert page.form("/accounts").fields["account_name"] == "Birch Hill"


def test_a_button_that_is_pressed_too_often_gets_an_error_page(
    app: Flask, address: str, email: str
) -> None:
    browser = sign_up(app, email)
    fields = browser.get("/profile").form("/logout").fields
    browser._address = address
    found = [browser.send("/profile/verify-email", **fields) for _ in range(6)]
    assert [page.status for page in found] == [303] * 5 + [429]
    assert "Too many attempts" in found[-1].title
    assert re.search(r"Please wait \d+ seconds? and try again\.", found[-1].text)


def test_other_posts_are_not_limited(app: Flask, address: str, email: str) -> None:
    browser = sign_up(app, email)
    fields = browser.get("/profile").form("/logout").fields
    browser._address = address
    found = [browser.send("/profile/name", **fields, name="Jo").status for _ in range(7)]
    assert set(found) == {303}


@pytest.mark.parametrize("settings", [{"redis_url": DEAD}, {"rate_limit_disabled": True}])
def test_without_valkey_or_limits_forms_are_taken(
    app: Flask, address: str, settings: dict[str, object]
) -> None:
    with second_app(app, **settings) as made:
        found = {post(made, "/forgot-password", address, email="a@example.org").status for _ in
                 range(8)}  # fmt: skip
        assert found == {200}
