"""``account.usage`` always equals a scan of the projects (docs/adr/0006-areas-and-counters.md)."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.policy.request_limits import PROJECT_STATUSES
from tests.make import Client, make_account, make_project, multi_square, square
from tests.make.properties import examples

GEOMETRIES = (None, square(size=0.01), square(8, 48, 0.02), multi_square((1, 1), (3, 3)))

steps = st.one_of(
    st.tuples(st.just("create"), st.sampled_from(GEOMETRIES)),
    st.tuples(st.just("reshape"), st.sampled_from(GEOMETRIES)),
    st.tuples(st.just("status"), st.sampled_from(PROJECT_STATUSES)),
    st.tuples(st.sampled_from(["archive", "restore", "delete", "rejected"]), st.none()),
)


@pytest.mark.both
@pytest.mark.slow
@given(st.lists(st.tuples(steps, st.integers(0, 3)), min_size=1, max_size=14))
@examples(8)
def test_counters_equal_a_scan_after_any_changes(app: Flask, plan: list[Any]) -> None:
    client = make_account(app)
    made: list[str] = []
    for (step, value), which in plan:
        _do(client, made, step, value, which)
    _check(client)


def _do(client: Client, made: list[str], step: str, value: Any, which: int) -> None:
    """Change one of the projects, or try a change that is rejected."""
    if step == "create" or not made:
        made.append(make_project(client, geometry=value if step == "create" else None)["id"])
        return
    path = f"/v1/projects/{made[which % len(made)]}"
    if step == "reshape":
        client.put(path, json={"geometry": value})
    elif step == "status":
        client.put(path, json={"status": value})
    elif step == "delete":
        client.delete(path)
    elif step == "rejected":
        client.put(path, json={"geometry": square(size=1), "x": 1})
        client.put(path, json={"geometry": square(size=1)}, headers={"If-Match": '"x"'})
    else:
        client.post(f"{path}/{step}")


def _check(client: Client) -> None:
    projects = client.get("/v1/projects?per_page=100").json["data"]
    counted = [p for p in projects if p["status"] != "archived"]
    square_metres = sum(round((p["area_hectares"] or 0) * 10_000) for p in counted)
    usage = client.get("/v1/account").json["data"]["usage"]
    expected = {"hectares": square_metres / 10_000, "projects": len(projects), "members": 1}
    assert usage == expected
    numbers = client.get("/v1/account/usage").json["data"]
    by_status = {s: sum(p["status"] == s for p in projects) for s in PROJECT_STATUSES}
    assert numbers["hectares"]["current"] == usage["hectares"]
    assert numbers["projects"] == {
        "active": by_status["active"],
        "archived": by_status["archived"],
        "draft": by_status["draft"],
        "total": len(projects),
    }
    for status, number in by_status.items():
        assert client.get(f"/v1/projects?status={status}").json["meta"]["total"] == number


def test_archived_projects_are_not_in_the_hectares(client: Client) -> None:
    project = make_project(client, geometry=square())
    for status in PROJECT_STATUSES:
        client.put(f"/v1/projects/{project['id']}", json={"status": status})
        usage = client.get("/v1/account").json["data"]["usage"]
        assert usage["hectares"] == (0 if status == "archived" else project["area_hectares"])
        assert usage["projects"] == 1
