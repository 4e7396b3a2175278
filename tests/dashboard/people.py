"""People who look at the pages of an account, each in a browser without scripts."""

from __future__ import annotations

from tests.make import Browser, Client, make_member, new_email, sign_in, sign_up

HOSTILE = "<script>alert(1)</script> \u202e" + "\u05d0" * 150


def browser_of_owner(client: Client) -> Browser:
    """The browser of the account's owner."""
    (owner,) = client.get("/v1/account/members").json["data"]
    return sign_in(client.app, owner["email"], "correct horse battery")


def browser_of(client: Client, role: str) -> Browser:
    """The browser of a new member, who works in the account."""
    email = new_email(client)
    browser = sign_up(client.app, email)
    make_member(client, role, email=email)
    browser.get("/accounts")
    browser.submit("/accounts/switch", press=client.account_id)
    return browser
