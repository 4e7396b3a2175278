"""What somebody sends in the wrong place is not recorded if it is a secret of the service."""

from __future__ import annotations

import json

from app.policy.audit import INSTANCE
from app.security import tokens
from app.security.webhook_signing import new_secret
from tests.make import Browser, Client, audit_entries
from tests.make.audit import new_entries


def test_a_token_in_another_header_is_not_recorded(client: Client) -> None:
    for header in ["User-Agent", "X-Request-Id"]:
        token = tokens.new_token(tokens.API_KEY)
        made = client.post("/v1/projects", {"name": f"By {header}"}, headers={header: token})
        assert made.status_code == 201
        entry = audit_entries(client)[-1]
        assert entry["action"] == "project.created"
        assert token not in json.dumps(entry)
        assert entry["via"]["request_id"] == made.headers["X-Request-Id"]


def test_the_rest_of_a_user_agent_is_recorded(client: Client) -> None:
    agent = f"sync/2 ({new_secret()}; +https://example.org)"
    client.post("/v1/projects", {"name": "Hood"}, headers={"User-Agent": agent})
    recorded = audit_entries(client)[-1]["via"]["user_agent"]
    assert recorded == "sync/2 (whsec_…; +https://example.org)"


def test_a_token_that_is_typed_as_an_email_address_is_not_recorded(client: Client) -> None:
    token = tokens.new_token(tokens.API_KEY)
    browser = Browser(client.app)
    browser.get("/login")
    with new_entries(client, INSTANCE) as found:
        browser.submit(email=f"{token}@example.org", password="not the password")
    (entry,) = (each for each in found if each["action"] == "person.sign_in_refused")
    assert entry["target"]["label"] == "canopy_key_…@example.org"
    assert token not in json.dumps(entry)
