"""``usage.*`` events of members (docs/policy.md, "Events")."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db.extensions import db
from app.limits.plan_file import plans
from app.policy.plans import Plan
from app.usage import counters
from tests.make import Client, events, make_account
from tests.usage.helpers import ALL, in_transaction, usage_events


@pytest.mark.both
def test_members_are_counted_towards_their_limit(free: Client) -> None:
    for _ in range(3):
        in_transaction(free, lambda: counters.count_member(free.account_id, 1))
    assert usage_events(free) == ALL  # 2 of 3 are 67 %, 3 are all, 4 too many
    assert [each["data"]["current"] for each in events(free)] == [3, 3, 3, 4]
    assert {each["data"]["metric"] for each in events(free)} == {"members"}
    assert [each["data"]["percentage"] for each in events(free)] == [100.0, 100.0, 100.0, 133.33]
    in_transaction(free, lambda: counters.count_member(free.account_id, -1))
    in_transaction(free, lambda: counters.count_member(free.account_id, 1))
    assert usage_events(free) == [*ALL, "over"]


def test_an_account_that_is_full_with_its_owner(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.app_context():
        known = dict(plans())
    monkeypatch.setitem(app.extensions, "canopy_plans", known | {"solo": Plan(None, None, None, 1)})
    client = make_account(app, plan="enterprise")
    in_transaction(client, lambda: _put_on(client, "solo"))
    assert usage_events(client) == [75, 90, 100]


def _put_on(client: Client, plan: str) -> None:
    """Like ``set_plan``, for a plan that only the operator's plan file has."""
    own = {"account": client.account_id, "plan": plan}
    db.session.execute(db.text("UPDATE accounts SET plan = :plan WHERE id = :account"), own)
    counters.check_thresholds(client.account_id)
