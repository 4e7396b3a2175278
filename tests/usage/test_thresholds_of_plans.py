"""Usage is checked against a new plan (docs/adr/0006-areas-and-counters.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.account.service import set_plan
from app.db.extensions import db
from app.usage import counters
from app.usage.thresholds import crossed
from tests.make import Client, make_account, make_project, square, together
from tests.make.properties import examples
from tests.usage.helpers import ALL, in_transaction, levels, usage_events
from tests.waiting import PATIENCE

pytestmark = pytest.mark.both


@pytest.fixture
def free(app: Flask) -> Client:
    """An account with limits of 1,000 ha and 3 members."""
    return make_account(app, plan="free")


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
        db.session.rollback()
    assert usage_events(client) == []


@pytest.mark.parametrize("change", ["create", "restore"])
@pytest.mark.parametrize("first", ["enterprise", "free"])
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
        with app.app_context():
            set_plan(client.account_id, second)
            changed.set()
            time.sleep(0.3)
            db.session.commit()

    together(put_on_the_second, *(lambda c=c: (changed.wait(PATIENCE), c()) for c in calls))
    assert levels(client)[0] == (4 if second == "free" else 0)
    assert usage_events(client)[before:] == (ALL if second == "free" else [])


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("create"), st.sampled_from([0.01, 0.02, 0.03])),
            st.tuples(st.sampled_from(["archive", "restore", "clear"]), st.integers(0, 5)),
            st.tuples(st.just("plan"), st.sampled_from(["free", "pro", "enterprise"])),
        ),
        max_size=12,
    )
)
@examples(15)
def test_the_level_is_that_of_the_counters_after_any_changes(app: Flask, plan: list[Any]) -> None:
    client = make_account(app, plan="free")
    made: list[str] = []
    for step, value in plan:
        if step == "plan":
            in_transaction(client, lambda v=value: set_plan(client.account_id, v))
        elif step == "create" or not made:
            size = value if step == "create" else 0.03
            project = make_project(client, geometry=square(10 + len(made), 50, size))
            made.append(f"/v1/projects/{project['id']}")
        elif step == "clear":
            client.put(made[value % len(made)], json={"geometry": None})
        else:
            client.post(f"{made[value % len(made)]}/{step}")
    shown = client.get("/v1/account/usage").json["data"]["hectares"]
    limit = None if shown["limit"] is None else shown["limit"] * 10_000
    assert levels(client)[0] == crossed(round(shown["current"] * 10_000), limit, 0)[1]
