"""An account that registers applications, and the steps of an OAuth flow."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import requests

from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import SECONDS

BACK = "http://127.0.0.1/back"  # as it is registered: the port is known only once somebody listens
SCOPES = ("profile", "projects:read", "offline_access")
numbers = itertools.count(1)

Tokens = dict[str, Any]


@dataclass(frozen=True)
class Application:
    """A registered application, with its secret if it has one."""

    id: str
    secret: str | None
    name: str


@dataclass(frozen=True)
class Woods:
    """An account without limits, with its owner and a key that may do everything."""

    instance: Instance
    account_id: str
    owner: str
    password: str
    key: str

    def register(
        self, name: str, *scopes: str, uris: Sequence[str] = (BACK,), public: bool = False
    ) -> Application:
        """A new application of the account."""
        options = [word for scope in scopes for word in ("--scope", scope)]
        options += [word for uri in uris for word in ("--redirect-uri", uri)]
        record = self.instance.canopy(
            *("oauth-app", "create", "--account", self.account_id, "--name", name),
            *(*options, *(["--public"] if public else [])),
        )
        return Application(record["client_id"], record["client_secret"], name)

    def enter(self, visitor: Visitor) -> None:
        """Sign the owner in, with the form on the page."""
        visitor.fill(email=self.owner, password=self.password)
        visitor.press("Sign in")

    def ask(self, visitor: Visitor, address: str) -> None:
        """Bring the owner to the consent page, signing in on the way."""
        visitor.go(address)
        assert visitor.heading == "Sign in"
        self.enter(visitor)
        visitor.move()
        assert visitor.heading.endswith("asks for access")


def make_woods(instance: Instance) -> Woods:
    """A new account, created by the operator."""
    number = next(numbers)
    owner = f"larch-{number}@example.org"
    account = instance.canopy(
        *("account", "create", "--name", f"Larch Grove {number}", "--owner-email", owner),
        *("--plan", "enterprise"),
    )
    return Woods(
        instance, account["account_id"], owner, account["owner_password"], account["api_key"]
    )


def revoke_access(visitor: Visitor, application: str) -> None:
    """Revoke the access of an application on the page of applications."""
    access = visitor.go("/applications").locator("section[aria-labelledby=access-title]")
    shown = access.locator(".rows > li", has_text=application)
    shown.get_by_role("button").click()
    visitor.page.get_by_role("button", name="Revoke access", exact=True).click()
    assert visitor.page.get_by_role("status").inner_text() == "Access revoked."
    assert shown.count() == 0


def authorization_address(
    instance: Instance, application: Application, uri: str, **fields: str
) -> str:
    """The URL of an authorization request, written by hand."""
    parameters = {
        "response_type": "code",
        "client_id": application.id,
        "redirect_uri": uri,
        "state": "xyz",
    }
    return f"{instance.url}/oauth/authorize?{urlencode(parameters | fields)}"


def call(
    instance: Instance, token: str, path: str = "/v1/projects", method: str = "GET", **options: Any
) -> requests.Response:
    """The API's response to a token or key."""
    headers = {"Authorization": f"Bearer {token}"}
    url = instance.url + path
    return requests.request(method, url, headers=headers, timeout=SECONDS, **options)
