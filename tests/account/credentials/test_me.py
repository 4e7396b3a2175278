"""GET /v1/me: who is calling."""

from __future__ import annotations

import pytest

from tests.make.accounts import Client, make_service_token
from tests.make.members import make_member
from tests.make.oauth import bearer, grant_tokens, make_application


def test_a_key_belongs_to_the_account_and_to_no_person(client: Client) -> None:
    account = client.get("/v1/account").json["data"]
    expected = {
        **dict.fromkeys(("id", "name", "email", "role", "project_ids")),
        "account": {name: account[name] for name in ("id", "name", "slug")},
    }
    assert client.get("/v1/me").json["data"] == expected
    token = make_service_token(client, permissions=["billing:read"])
    assert token.get("/v1/me").json["data"] == expected


@pytest.mark.both
def test_a_token_acts_for_a_person(client: Client) -> None:
    person = make_member(client, "editor")
    member = client.get(f"/v1/account/members/{person.id}").json["data"]
    application = make_application(client)

    def me(*scopes: str) -> dict[str, object]:
        answer = grant_tokens(client.app, application, person.id, client.account_id, scopes)
        found: dict[str, object] = bearer(client, answer["access_token"]).get("/v1/me").json["data"]
        return found

    known = me("profile", "projects:read")
    assert {name: known[name] for name in ("id", "name", "email", "role")} == {
        name: member[name] for name in ("id", "name", "email", "role")
    }
    hidden = me("projects:read")
    assert (hidden["id"], hidden["role"]) == (person.id, "editor")
    assert (hidden["name"], hidden["email"]) == (None, None)
