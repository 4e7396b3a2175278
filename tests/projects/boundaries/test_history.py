"""GET /v1/projects/{project_id}/boundaries: an entry for each boundary that a project has had."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from flask import Flask

from app.db.extensions import db
from app.db.transactions import transaction
from app.geometry import read_boundary
from app.projects.boundary_history import comparing
from app.projects.service import create_project, update_project
from tests.make import (
    Client,
    make_account,
    make_asset,
    make_member,
    make_project,
    operator_of,
    second_app,
    square,
    together,
)
from tests.make.members import make_key_of
from tests.projects.boundaries.history import boundaries, geometry_of, put


@pytest.fixture
def project(client: Client) -> dict[str, Any]:
    return make_project(client, geometry=square(10, 50, 0.1))


def test_a_new_project_begins_with_its_boundary(client: Client, project: dict[str, Any]) -> None:
    (first,) = boundaries(client, project)
    assert list(first) == [
        "id", "area_hectares", "added_hectares", "removed_hectares", "source", "created_at",
        "created_by", "replaced_at",
    ]  # fmt: skip
    assert first["id"].startswith("bnd_")
    assert first["area_hectares"] == first["added_hectares"] == project["area_hectares"]
    assert (first["removed_hectares"], first["source"]) == (0, "api")
    assert (first["created_at"], first["replaced_at"]) == (project["created_at"], None)
    assert first["created_by"]["id"] == client.owner_id
    assert "@" in first["created_by"]["email"]
    assert geometry_of(client, project, first) == project["geometry"]


@pytest.mark.both
def test_a_change_keeps_the_boundary_before_it(client: Client, project: dict[str, Any]) -> None:
    changed = put(client, project, geometry=square(10.05, 50, 0.1))
    present, former = boundaries(client, project)
    assert present["area_hectares"] == changed["area_hectares"]
    half = project["area_hectares"] / 2
    assert present["added_hectares"] == pytest.approx(half, rel=1e-3)
    assert present["removed_hectares"] == pytest.approx(half, rel=1e-3)
    assert present["created_at"] == changed["updated_at"] == former["replaced_at"]
    assert geometry_of(client, project, former) == project["geometry"]
    assert geometry_of(client, project, present) == changed["geometry"]


def test_what_is_no_change_of_the_boundary_makes_no_entry(
    client: Client, project: dict[str, Any]
) -> None:
    put(client, project, name="Forst", metadata={"a": 1})
    put(client, project, geometry=project["geometry"])
    assert len(boundaries(client, project)) == 1


@pytest.mark.both
def test_a_cleared_boundary_is_kept(client: Client, project: dict[str, Any]) -> None:
    cleared = put(client, project, geometry=None)
    (former,) = boundaries(client, project)
    assert former["replaced_at"] == cleared["updated_at"]
    assert geometry_of(client, project, former) == project["geometry"]
    put(client, project, geometry=square(10, 50, 0.2))
    present, _ = boundaries(client, project)
    assert present["added_hectares"] == present["area_hectares"]


@pytest.mark.both
def test_the_pages_have_the_newest_first(client: Client, project: dict[str, Any]) -> None:
    for size in (0.2, 0.3, 0.4, 0.5):
        put(client, project, geometry=square(size=size))
    everything = boundaries(client, project)
    assert [each["id"] for each in everything] == sorted(
        (each["id"] for each in everything), reverse=True
    )
    pages = [boundaries(client, project, page=page, per_page=2) for page in (1, 2, 3, 4)]
    assert pages == [everything[:2], everything[2:4], everything[4:], []]
    assert "geometry" not in everything[0]


@pytest.mark.both
def test_who_did_it_and_in_which_way(client: Client, project: dict[str, Any]) -> None:
    editor = make_member(client, "editor")
    put(make_key_of(client, editor.id, "editor"), project, geometry=square(size=0.2))
    with client.app.app_context(), transaction():
        boundary = read_boundary(square(size=0.3))
        principal = operator_of(client)
        update_project(principal, project["id"], {"geometry": boundary})
        other = read_boundary(square(size=0.4))
        update_project(principal, project["id"], {"geometry": other}, source="ogc")
        new = create_project(principal, name="New", geometry=other, source="import")
    found = boundaries(client, project)
    assert [each["source"] for each in found] == ["ogc", "cli", "api", "api"]
    assert found[2]["created_by"] == {"id": editor.id, "email": editor.email}
    assert [each["source"] for each in boundaries(client, new)] == ["import"]


def test_nothing_is_compared_while_others_wait(
    client: Client, project: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an Idempotency-Key the transaction begins before the operation."""
    was_open = []

    def noting(*args: Any) -> Any:
        was_open.append(db.session().in_transaction())
        return comparing_difference(*args)

    comparing_difference = comparing.area_difference
    monkeypatch.setattr(comparing, "area_difference", noting)
    path, body = f"/v1/projects/{project['id']}", {"geometry": square(size=0.2)}
    for _ in range(2):
        response = client.put(path, json=body, headers={"Idempotency-Key": "once"})
        assert response.status_code == 200
    assert was_open == [False]
    present, _ = boundaries(client, project)
    assert present["added_hectares"] > 0


@pytest.mark.both
def test_two_changes_at_once_are_both_kept(client: Client, project: dict[str, Any]) -> None:
    """The second is compared with the first, and not with what was there before."""
    sizes = (0.2, 0.3, 0.4, 0.5)
    calls = [lambda size=size: put(client, project, geometry=square(size=size)) for size in sizes]
    together(*calls)
    found = boundaries(client, project)[::-1]
    assert len(found) == 5
    assert len({each["id"] for each in found}) == 5
    for former, later in pairwise(found):
        assert former["replaced_at"] == later["created_at"]
        gain = later["area_hectares"] - former["area_hectares"]
        change = later["added_hectares"] - later["removed_hectares"]
        assert change == pytest.approx(gain, rel=1e-3)
    assert found[-1]["replaced_at"] is None
    kept = [geometry_of(client, project, each)["coordinates"][0][2] for each in found]
    assert len({tuple(corner) for corner in kept}) == 5


@pytest.mark.both
def test_they_go_with_the_project_and_give_their_bytes_back(
    client: Client, project: dict[str, Any]
) -> None:
    def stored() -> Any:
        return client.get("/v1/account/usage").json["data"]["stored_bytes"]["current"]

    one = stored()
    put(client, project, geometry=square(10, 50, 0.2), metadata={"a": 1})
    put(client, project, geometry=None)
    put(client, project, geometry=square(10, 50, 0.1))
    make_asset(client, project["id"], metadata={"b": 1})
    assert stored() == 3 * one + 14
    client.post(f"/v1/projects/{project['id']}/archive")
    assert client.delete(f"/v1/projects/{project['id']}").status_code == 204
    assert stored() == 0
    assert client.get(f"/v1/projects/{project['id']}/boundaries").status_code == 404


def test_a_former_boundary_counts_towards_the_storage(app: Flask) -> None:
    with second_app(app, max_account_bytes=150) as made:
        client = make_account(made)
        project = make_project(client, geometry=square())
        refused = client.put(f"/v1/projects/{project['id']}", json={"geometry": square(size=0.2)})
        assert refused.status_code == 403
        assert "former ones too" in refused.json["error"]["details"][0]["message"]
        assert len(boundaries(client, project)) == 1


@pytest.mark.both
def test_a_boundary_is_found_in_its_own_project_only(
    client: Client, project: dict[str, Any]
) -> None:
    (entry,) = boundaries(client, project)
    path = f"/v1/projects/{make_project(client)['id']}/boundaries/{entry['id']}"
    assert client.get(path).status_code == 404
    assert client.post(f"{path}/restore").status_code == 404
