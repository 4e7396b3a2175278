"""Searches stay among the owner's rows, and the pieces that are looked up miss nothing."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.db.extensions import db
from app.db.search_index import text_values
from app.db.transactions import transaction
from app.geometry import Bounds
from app.models import Account, AccountUsage, Project
from app.projects.listing import list_projects, project_query
from app.values import clock
from app.values.folding import searchable_text
from app.values.ids import new_id
from tests.make import Client, make_project, square

pytestmark = pytest.mark.both


TEXTS = st.text(min_size=3, max_size=80).filter(lambda text: len(searchable_text(text)) >= 3)


@given(whole=TEXTS, ends=st.tuples(st.integers(0, 80), st.integers(0, 80)))
def test_what_is_looked_up_for_a_part_is_in_the_whole(whole: str, ends: tuple[int, int]) -> None:
    text = searchable_text(whole)
    part = text[min(ends) : max(ends)]
    if len(searchable_text(part)) < 3 or searchable_text(part) not in text:
        return
    trigrams = text_values(part, "proj_xyz", "postgresql")["trigrams"]
    assert trigrams
    assert all(gram in text and len(gram) == 3 for gram in trigrams)


def test_no_two_neighbors_of_a_short_needle_are_left_out() -> None:
    trigrams = text_values("quillwort", "proj_xyz", "postgresql")["trigrams"]
    assert trigrams == ["qui", "ill", "lwo", "ort"]


def test_a_long_needle_is_looked_up_in_few_pieces() -> None:
    needle = "".join(chr(0x4E00 + number) for number in range(200))
    assert len(text_values(needle, "proj_xyz", "postgresql")["trigrams"]) <= 16


def make_twin(app: Flask, client: Client, **project: Any) -> str:
    """An account whose id ends like the client's, with a project."""
    moment = clock.now()
    account_id = new_id("account")[:-3] + client.account_id[-3:]
    times = {"created_at": moment, "updated_at": moment}
    with app.app_context(), transaction():
        slug = account_id[5:]
        twin = Account(
            id=account_id, name="Twin", slug=slug, type="organization", plan="free", **times
        )
        db.session.add(twin)
        db.session.flush()
        db.session.add(AccountUsage(account_id=account_id, members=0, projects_active=1))
        db.session.add(
            Project(id=new_id("project"), account_id=account_id, slug="a", **times, **project)
        )
    return account_id


def test_an_account_whose_id_ends_alike_is_not_searched(app: Flask, client: Client) -> None:
    own = make_project(client, name="Quillwort fen", geometry=square())
    make_twin(
        app, client, name="Quillwort bog", name_key="quillwort bog", search_text="quillwort bog",
        status="active", west=10.0, south=50.0, east=10.1, north=50.1,
    )  # fmt: skip
    queries: tuple[dict[str, Any], ...] = (
        {"search": "quillwort"},
        {"search": "qu"},
        {"bbox": Bounds(9.0, 49.0, 11.0, 51.0)},
        {"search": "quillwort", "bbox": Bounds(9.0, 49.0, 11.0, 51.0)},
    )
    for query in queries:
        with app.app_context():
            records, total = list_projects(client.account_id, project_query(**query))
            ids = [record["id"] for record in records]
        assert (ids, total) == ([own["id"]], 1), query


def test_the_entries_of_both_indexes_follow_a_change(client: Client) -> None:
    project = make_project(client, name="Quillwort fen", geometry=square())
    path = f"/v1/projects/{project['id']}"
    assert (
        client.put(path, json={"name": "Orchid fen", "geometry": square(20.0)}).status_code == 200
    )
    found = [
        client.get("/v1/projects", query_string=query).json["meta"]["total"]
        for query in (
            {"search": "quillwort"}, {"bbox": "9,49,11,51"},
            {"search": "orchid"}, {"bbox": "19,49,21,51"},
        )
    ]  # fmt: skip
    assert found == [0, 0, 1, 1]
