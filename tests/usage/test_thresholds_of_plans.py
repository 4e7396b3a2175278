"""Usage is checked against a new plan (docs/adr/0006-areas-and-counters.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.account.service import set_plan
from app.db.transactions import transaction
from app.usage import counters
from tests.make import Client, make_account, make_project, square, together
from tests.usage.helpers import ALL, in_transaction, levels, usage_events
from tests.waiting import PATIENCE


@pytest.mark.both
def test_a_smaller_plan_is_checked_against_current_usage(client: Client) -> None:
    make_project(client, geometry=square(size=0.028))  # some 620 ha
    in_transaction(client, lambda: counters.count_member(client.account_id, 2))
    in_transaction(client, lambda: set_plan(client.account_id, "free"))
    assert usage_events(client) == [75, 90, 100]
    assert levels(client) == (0, 3, 0)
    make_project(client, geometry=square(20, 50, 0.028))
    assert usage_events(client) == [75, 90, 100, *ALL]


def test_a_larger_plan_rearms_without_events(free: Client) -> None:
    make_project(free, geometry=square(size=0.1))
    in_transaction(free, lambda: set_plan(free.account_id, "pro"))
    assert levels(free) == (0, 0, 0)
    in_transaction(free, lambda: set_plan(free.account_id, "enterprise"))
    assert levels(free) == (0, 0, 0)
    before = usage_events(free)
    in_transaction(free, lambda: set_plan(free.account_id, "free"))
    assert usage_events(free) == [*before, *ALL]


def test_the_same_plan_again_emits_nothing(free: Client) -> None:
    make_project(free, geometry=square(size=1))
    in_transaction(free, lambda: set_plan(free.account_id, "free"))
    assert usage_events(free) == ALL


def test_an_unknown_plan_emits_nothing(client: Client) -> None:
    make_project(client, geometry=square(size=1))
    with client.app.app_context():
        set_plan(client.account_id, "free")
    assert usage_events(client) == []


@pytest.mark.both
@pytest.mark.parametrize(("first", "change"), [("enterprise", "create"), ("free", "restore")])
def test_concurrent_changes_are_checked_against_the_new_plan(
    app: Flask, first: str, change: str
) -> None:
    """After waiting for a row, a statement still sees an old snapshot of other tables."""
    client = make_account(app, plan=first)
    second = "free" if first == "enterprise" else "enterprise"
    drawn = [square(10 + 0.1 * place, 50, 0.02) for place in range(6)]  # some 320 ha each
    calls: list[Callable[[], Any]] = [lambda g=g: make_project(client, geometry=g) for g in drawn]
    if change == "restore":
        paths = [f"/v1/projects/{call()['id']}" for call in calls]
        for path in paths:
            client.post(f"{path}/archive")
        calls = [lambda p=p: client.post(f"{p}/restore") for p in paths]
    before, changed = len(usage_events(client)), threading.Event()

    def put_on_the_second() -> None:
        with app.app_context(), transaction():
            set_plan(client.account_id, second)
            changed.set()
            time.sleep(0.3)

    together(put_on_the_second, *(lambda c=c: (changed.wait(PATIENCE), c()) for c in calls))
    assert levels(client)[0] == (4 if second == "free" else 0)
    assert usage_events(client)[before:] == (ALL if second == "free" else [])
