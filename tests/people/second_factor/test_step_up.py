"""Asked again before what could hand over the account; what was typed is kept."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from app.db.extensions import db
from app.models import Credential, User
from app.policy.second_factor import CONFIRMED_FOR, WRONG_CODES
from tests.make import Client, make_application, make_member, make_webhook
from tests.make.browser import Page
from tests.make.mails import mails_to
from tests.oauth.support import browser_of
from tests.pages.support import signed_in_browser
from tests.people.second_factor.support import OWN, Factor, Later, app_of, begin, give

ASKED = "Confirm that it is you"
WEBHOOK = {"url": "https://hooks.example.org/elsewhere", "which": "all"}
KEY = {"name": "Night <job>", "permissions": "projects:read", "scope": "all", "life": "never"}


class Owner:
    """The owner of an account, who signed in with a second factor a while ago."""

    def __init__(self, client: Client, later: Later) -> None:
        self.client, self.later = client, later
        self.factor: Factor = app_of(client.app, client.owner_id)
        self.browser = signed_in_browser(client, client.owner_id)
        self.wait()

    def wait(self) -> None:
        self.later.move(CONFIRMED_FOR)

    def key_form(self) -> Page:
        self.browser.get("/api-keys/new")
        return self.browser.submit("/api-keys/new", **KEY)

    def key_names(self) -> list[str]:
        with self.client.app.app_context():
            own = select(Credential.name).where(Credential.account_id == self.client.account_id)
            return list(db.session.scalars(own))


@pytest.fixture
def owner(client: Client, later: Later) -> Owner:
    return Owner(client, later)


def test_a_key_is_made_after_the_code(owner: Owner) -> None:
    page = owner.key_form()
    assert (page.status, page.title) == (200, ASKED)
    assert KEY["name"] not in owner.key_names()
    page = give(owner.browser, value=owner.factor.code())
    assert "shown only once" in page.text
    assert KEY["name"] in owner.key_names()


def test_nobody_is_asked_within_ten_minutes(owner: Owner) -> None:
    owner.key_form()
    give(owner.browser, value=owner.factor.code())
    assert "shown only once" in owner.key_form().text
    owner.wait()
    assert owner.key_form().title == ASKED


@pytest.mark.both
def test_what_was_typed_survives_a_wrong_code(owner: Owner) -> None:
    owner.key_form()
    page = give(owner.browser, value=owner.factor.wrong())
    assert page.status == 422
    assert "Night &lt;job&gt;" in page.response.text
    give(owner.browser, value=owner.factor.code())
    assert owner.key_names().count(KEY["name"]) == 1


def test_the_page_of_a_secret_loaded_again_makes_no_second_key(owner: Owner) -> None:
    page = owner.key_form()
    fields = page.form("/api-keys/new").fields | {"second_factor_code": owner.factor.code()}
    assert "shown only once" in owner.browser.send("/api-keys/new", **fields).text
    again = owner.browser.send("/api-keys/new", **fields)
    assert again.status == 303
    assert owner.key_names().count(KEY["name"]) == 1


@pytest.mark.both
def test_a_code_confirms_once(owner: Owner) -> None:
    """And is used up for signing in, too."""
    owner.key_form()
    code = owner.factor.code()
    give(owner.browser, value=code)
    elsewhere = signed_in_browser(owner.client, owner.client.owner_id)
    elsewhere.get("/api-keys/new")
    assert elsewhere.submit("/api-keys/new", **KEY).title == ASKED
    assert give(elsewhere, value=code).status == 422
    with owner.client.app.app_context():
        email = db.session.get_one(User, owner.client.owner_id).email
    assert give(begin(owner.client.app, email), value=code).status == 422


def test_wrong_codes_are_limited_and_mailed_here_too(owner: Owner) -> None:
    owner.key_form()
    found = [give(owner.browser, value=owner.factor.wrong()).status for _ in range(WRONG_CODES)]
    assert found == [422] * WRONG_CODES
    page = give(owner.browser, value=owner.factor.code())
    assert page.status == 429
    assert int(page.response.headers["Retry-After"]) > 0
    email = owner.client.get("/v1/account/members").json["data"][0]["email"]
    assert "may know your password" in str(mails_to(owner.client.app, email)[-1]["Subject"])


@pytest.mark.both
def test_a_recovery_code_confirms(owner: Owner) -> None:
    owner.key_form()
    page = give(owner.browser, "recovery_code", owner.factor.codes[0])
    assert "shown only once" in page.text


def test_who_has_no_second_factor_is_not_asked(client: Client, later: Later) -> None:
    browser = browser_of(client)
    later.move(CONFIRMED_FOR)
    browser.get("/api-keys/new")
    assert "shown only once" in browser.submit("/api-keys/new", **KEY).text


@pytest.mark.slow
def test_all_forms_that_could_hand_over_the_account(owner: Owner) -> None:
    member, application = make_member(owner.client, "admin"), make_application(owner.client)
    other, webhook_id = make_member(owner.client, "owner"), make_webhook(owner.client)["id"]
    forms = {
        "/welcome/key": {},
        "/service-tokens/new": KEY | {"life": "never"},
        "/applications/new": {
            "name": "Map",
            "kind": "secret",
            "redirect_uris": "https://client.example/back",
            "scopes": "projects:read",
        },
        f"/applications/{application.id}": {
            "name": "Map",
            "redirect_uris": "https://elsewhere.example/back",
            "scopes": "projects:read",
        },
        f"/applications/{application.id}/secret": {
            "overlap_hours": "0",
            "mark": mark_of(owner, application.id),
        },
        "/webhooks/new": WEBHOOK,
        f"/webhooks/{webhook_id}/edit": WEBHOOK,
        f"/webhooks/{webhook_id}/rotate": {"overlap_hours": "24"},
        "/members/invite": {"email": "admin-to-be@example.org", "role": "admin"},
        f"/members/{other.id}/role": {"role": "viewer"},
        f"/members/{other.id}/remove": {},
        f"/members/{member.id}/role": {
            "role": "owner",
            "was_role": "admin",
            "was_joined_at": joined_at(owner.client, member.id),
        },
        "/settings/second-factor": {"required": "yes", "grace_days": "7"},
        f"/members/{member.id}/second-factor/reset": {},
        f"{OWN}/off": {},
        f"{OWN}/recovery-codes": {},
        f"{OWN}/authenticator": {},
        f"{OWN}/authenticator/remove": {},
        f"{OWN}/passkeys/new": {},
    }
    token = owner.browser.get("/profile").form("/logout").fields
    for path, fields in forms.items():
        page = owner.browser.send(path, **token, **fields)
        assert (page.status, page.title) == (200, ASKED), f"{path}: {page.text}"
        back = page.links[-1]
        assert path.startswith(back), path
        assert owner.browser.get(back).status == 200, path


def mark_of(owner: Owner, app_id: str) -> str:
    page = owner.browser.get(f"/applications/{app_id}")
    found = re.search(r'name="mark"[^>]*value="([^"]+)"', page.response.text)
    assert found
    return found[1]


def joined_at(client: Client, member_id: str) -> str:
    record = client.get(f"/v1/account/members/{member_id}")
    return str((record.json or {})["data"]["joined_at"]) if record.status_code == 200 else ""


def test_a_role_below_owner_is_given_without_asking(owner: Owner) -> None:
    member = make_member(owner.client, "viewer")
    owner.browser.get(f"/members/{member.id}")
    page = owner.browser.submit(f"/members/{member.id}/role", role="editor")
    assert page.path == "/members"


def test_a_webhook_is_renamed_without_asking(owner: Owner) -> None:
    made = make_webhook(owner.client)
    owner.browser.get(f"/webhooks/{made['id']}/edit")
    page = owner.browser.submit(f"/webhooks/{made['id']}/edit", description="Woods", which="all")
    assert "Webhook saved." in page.text


def test_a_script_gets_no_page(owner: Owner) -> None:
    token = owner.browser.get("/profile").form("/logout").fields
    sent = owner.browser.send("/api-keys/new", {"X-Requested-With": "fetch"}, **token, **KEY)
    assert sent.status == 403


def test_an_admin_is_made_after_the_code(owner: Owner) -> None:
    member = make_member(owner.client, "viewer")
    owner.browser.get(f"/members/{member.id}")
    assert owner.browser.submit(f"/members/{member.id}/role", role="admin").title == ASKED
    owner.browser.get("/members")
    invitation = {"email": "admin-to-be@example.org", "role": "admin"}
    assert owner.browser.submit("/members/invite", **invitation).title == ASKED
    page = give(owner.browser, value=owner.factor.code())
    assert "An invitation is on its way" in page.text
