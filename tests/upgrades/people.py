"""People of a former version, who use its pages."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.make.browser import PASSWORD
from tests.make.oauth import BACK, VERIFIER, challenge_of
from tests.people.second_factor.support import OWN, SoftPasskey, options_of, turn_on
from tests.upgrades.former import Caller, Former, FormerBrowser

if TYPE_CHECKING:
    from tests.upgrades.filling import Kept

SCOPES = "profile projects:write assets:read offline_access"
People = dict[str, dict[str, Any]]  # what a test needs to be them, by their address


def join(former: Former, owner: Caller, role: str, people: People, *, name: str = "") -> str:
    """Invite somebody, who accepts with a new password. Returns their id."""
    email = f"{name or role}@example.org"
    invited = owner.post("/v1/account/members/invite", {"email": email, "role": role})
    browser = FormerBrowser(former)
    browser.get(former.mailed_link(email))
    page = browser.submit(name=f"Jo {role.title()} Ñandú", password=PASSWORD)
    assert page.status == 200, page.text
    people[email] = {"id": invited["id"], "password": PASSWORD, "cookies": browser.cookies}
    return str(invited["id"])


def sign_up(former: Former, people: People) -> None:
    """Somebody signs up, with an account of their own."""
    email, browser = "solo@example.org", FormerBrowser(former)
    browser.get("/register")
    browser.submit(name="Solo Hazel", email=email, password=PASSWORD, account_name="Hazel Woods")
    browser.get(former.mailed_link(email))
    page = browser.submit(password=PASSWORD)
    assert page.status == 200, page.text
    people[email] = {"password": PASSWORD, "cookies": browser.cookies}


def _sign_in(former: Former, email: str) -> FormerBrowser:
    browser = FormerBrowser(former)
    browser.get("/login")
    page = browser.submit(email=email, password=PASSWORD)
    assert page.path != "/login", page.text
    return browser


def let_application_act(former: Former, kept: Kept) -> None:
    """The editor lets an application of the account act for them."""
    scopes = [word for scope in SCOPES.split() for word in ("--scope", scope)]
    made = former.command(
        "oauth-app", "create", "--account", kept.account, "--name", "Map of Woods",
        "--redirect-uri", BACK, "--redirect-uri", "https://client.example/other", *scopes,
    )  # fmt: skip
    client_id, secret = made["client_id"], made["client_secret"]
    query = urlencode(
        {"response_type": "code", "client_id": client_id, "redirect_uri": BACK, "scope": SCOPES,
         "state": "xyz", "code_challenge": challenge_of(VERIFIER), "code_challenge_method": "S256"}
    )  # fmt: skip
    browser = _sign_in(former, "editor@example.org")
    browser.get(f"/oauth/authorize?{query}")
    page = browser.submit(f"/oauth/authorize?{query}", press="allow", account_id=kept.account)
    code = parse_qs(urlsplit(page.response.headers["Location"]).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK,
            "code_verifier": VERIFIER, "client_id": client_id, "client_secret": secret}  # fmt: skip
    answer = former.request("POST", "/oauth/token", data=form)
    assert answer.ok, answer.text
    kept.application = {"id": client_id, "secret": secret, "tokens": answer.json(), "query": query}
    Caller(former, answer.json()["access_token"]).get("/v1/projects")


def secure(former: Former, people: People) -> None:
    """The admin sets up an authenticator app and a passkey, and the viewer a time zone."""
    browser = _sign_in(former, "admin@example.org")
    factor, passkey = turn_on(browser), SoftPasskey()
    browser.get(OWN)
    options = options_of(browser.submit(f"{OWN}/passkeys/new"))
    page = browser.submit(f"{OWN}/passkeys", name="Phone", response=passkey.registered(options))
    assert page.status == 200, page.text
    key = passkey.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    people["admin@example.org"] |= {
        "secret": base64.b64encode(factor.secret).decode(),
        "codes": factor.codes,
        "passkey": {"id": passkey.id.hex(), "key": key.decode(), "count": passkey.count},
    }
    browser = _sign_in(former, "viewer@example.org")
    browser.get("/profile")
    browser.submit("/profile/times", time_zone="Asia/Tokyo")
