"""Requests at once against a limit: exactly as many pass as it allows."""

from __future__ import annotations

from collections import Counter

from flask import Flask

from tests.limits.test_tiers import STRICT, call
from tests.make import Client, make_account, together


def test_of_an_account(limited: Flask) -> None:
    caller = make_account(limited, plan="few")

    def ask() -> int:
        same = Client(limited, caller.account_id, caller.owner_id, caller.token)
        return int(same.get("/v1/account").status_code)

    assert Counter(together(*[ask] * 12)) == {200: 3, 429: 9}


def test_of_an_address(app: Flask) -> None:
    visitor = app.test_client()
    address = visitor.environ_base["REMOTE_ADDR"]

    def ask() -> int:
        same = app.test_client()
        same.environ_base["REMOTE_ADDR"] = address
        return int(call(same, STRICT).status_code)

    assert Counter(together(*[ask] * 12)) == {200: 5, 429: 7}
