"""Invitations by an account, and the number of its members."""

from __future__ import annotations

from typing import Any

from tests.make import Client

PATH = "/v1/account/members"


def invite(client: Client, email: str, role: str = "editor", **options: Any) -> Any:
    return client.post(f"{PATH}/invite", json={"email": email, "role": role}, **options)


def count_members(client: Client) -> int:
    """As the account and the list of members say it."""
    counted = client.get("/v1/account").json["data"]["usage"]["members"]
    listed = client.get(PATH).json["meta"]["total"]
    assert counted == listed
    return int(listed)
