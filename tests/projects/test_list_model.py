"""Lists compared with a model in plain Python: every sort, order, filter and page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import urlencode

import pytest
from flask import Flask
from hypothesis import example, given
from hypothesis import strategies as st

from app.policy.bounds import PROJECT_SORTS, PROJECT_STATUSES
from app.values import clock
from app.values.text import fold, searchable
from tests.make import Client, make_account, make_project, square
from tests.make.properties import examples

pytestmark = pytest.mark.both


START = clock.now()
LETTERS = "aAbßẞsſSiIİıéÉ\u0065\u0301ςσΣ森🌲%_*\"'\\^- :()\n"


class Plan(NamedTuple):
    """A project to make; few values for each field, so that many are equal."""

    name: str
    description: str | None
    size: float | None
    status: str
    minute: int


one_line = LETTERS.replace("\n", "")
names = st.text(one_line, min_size=1, max_size=6).filter(lambda text: text == text.strip() != "")
plans = st.builds(
    Plan,
    name=names | st.sampled_from(["Wald", "wald", "WALD"]),
    description=st.none() | st.text(LETTERS, max_size=8).map(str.strip),
    size=st.sampled_from([None, None, 0.01, 0.02]),
    status=st.sampled_from(PROJECT_STATUSES),
    minute=st.integers(0, 2),
)
needles = st.none() | st.text(LETTERS, min_size=1, max_size=4)


@given(st.lists(plans, max_size=7), needles, st.integers(1, 4))
@example([Plan("Wald", None, None, "active", 0)] * 3, None, 1)
@example([Plan("AND", "OR NEAR(", 0.01, "draft", 1), Plan("*", None, None, "active", 1)], "or n", 2)
@example([Plan("a", "b", None, "active", 0)], "a\nb", 2)
@examples(8)
@pytest.mark.slow
def test_every_list_is_what_the_model_says(
    app: Flask, made: list[Plan], needle: str | None, per_page: int
) -> None:
    client = make_account(app)
    projects = [_make(client, number, plan) for number, plan in enumerate(made)]
    for sort, order, status in itertools.product(PROJECT_SORTS, ("asc", "desc"), (None, "draft")):
        query = {"sort": sort, "order": order, "status": status, "search": needle}
        expected = _model(projects, query)
        listed = list(_walk(client, query, per_page, len(expected)))
        assert [p["id"] for p in listed] == [p["id"] for p in expected], query


def _make(client: Client, number: int, plan: Plan) -> dict[str, Any]:
    """A name of its own first, so that slugs differ, and then the planned one."""
    moment = START + timedelta(minutes=plan.minute)
    with mock.patch.object(clock, "now", return_value=moment):
        geometry = None if plan.size is None else square(size=plan.size)
        fields = {"description": plan.description, "geometry": geometry}
        project = make_project(client, name=f"n{number}", **fields)
        body = {"name": plan.name, "status": plan.status}
        return client.put(f"/v1/projects/{project['id']}", json=body).json["data"]


def _model(projects: list[dict[str, Any]], query: dict[str, str | None]) -> list[dict[str, Any]]:
    chosen = [p for p in projects if query["status"] in (None, p["status"])]
    if needle := (query["search"] or "").strip():
        texts = [(p, (p["name"], p["description"] or "")) for p in chosen]
        wanted = searchable(needle)
        chosen = [p for p, both in texts if any(wanted in searchable(text) for text in both)]
    sort = query["sort"] or "created_at"
    descending = (query["order"] or ("desc" if sort == "created_at" else "asc")) == "desc"
    return sorted(chosen, key=lambda p: (*_key(p, sort), p["id"]), reverse=descending)


def _key(project: dict[str, Any], sort: str) -> tuple[Any, ...]:
    if sort == "name":
        return (fold(project["name"]),)
    if sort == "area_hectares":
        return (project["area_hectares"] is not None, project["area_hectares"] or 0)
    return (project["created_at"],)


def _walk(
    client: Client, query: dict[str, str | None], per_page: int, total: int
) -> Iterator[dict[str, Any]]:
    """All pages after each other, and one past the end."""
    given = {name: value for name, value in query.items() if value is not None}
    pages = -(-total // per_page)
    for page in range(1, pages + 2):
        text = urlencode(given | {"page": page, "per_page": per_page})
        body = client.get(f"/v1/projects?{text}").json
        meta = {"total": total, "page": page, "per_page": per_page, "total_pages": pages}
        assert body["meta"] == meta
        assert len(body["data"]) == max(0, min(per_page, total - (page - 1) * per_page))
        yield from body["data"]
