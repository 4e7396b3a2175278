"""The filters that ``app.policy.fields`` declares, by every door."""

from __future__ import annotations

import pytest

from app.lists.query import ListQuery
from app.policy.fields import ASSET, PROJECT, filters_of
from tests.lists.doors import project_doors
from tests.make import Browser, Client, make_asset, make_project, point, square
from tests.pages.support import browser_of


@pytest.fixture
def owner(client: Client) -> Browser:
    return browser_of(client)


@pytest.fixture
def projects(client: Client) -> None:
    make_project(client, name="Both", external_id="b", geometry=square(5))
    make_project(client, name="Placed", geometry=square(15))
    make_project(client, name="Named", external_id="n")
    old = make_project(client, name="Old", external_id="o", geometry=square(25))
    client.post(f"/v1/projects/{old['id']}/archive")


@pytest.mark.both
def test_presence_is_filtered_by_every_door(
    client: Client, owner: Browser, projects: None, subtests: pytest.Subtests
) -> None:
    world = "-180,-90,180,90"
    for filters, names in (
        ({"has_geometry": "true"}, ["Both", "Old", "Placed"]),
        ({"has_geometry": "false"}, ["Named"]),
        ({"has_external_id": "true"}, ["Both", "Named", "Old"]),
        ({"has_external_id": "false"}, ["Placed"]),
        ({"has_external_id": "true", "status": "active"}, ["Both", "Named"]),
        ({"has_external_id": "true", "bbox": world}, ["Both", "Old"]),
        ({"has_external_id": "false", "search": "placed"}, ["Placed"]),
        ({"has_external_id": "true", "has_geometry": "false"}, ["Named"]),
    ):
        with subtests.test(filters=filters):
            found = project_doors(client, owner, filters)
            drawn = [name for name in names if name != "Named"]
            assert found == {door: drawn if "map" in door else names for door in found}


@pytest.mark.both
def test_presence_of_assets(client: Client, owner: Browser) -> None:
    project = make_project(client)["id"]
    make_asset(client, project, name="Mast", location=point(), external_id="m")
    make_asset(client, project, name="Truck")
    for path in ("/v1/assets", f"/v1/projects/{project}/assets"):
        for query, name in (("has_location=true", "Mast"), ("has_external_id=false", "Truck")):
            listed = client.get(f"{path}?{query}").json
            assert [each["name"] for each in listed["data"]] == [name]
            assert listed["meta"]["total"] == 1
    assert "1 asset" in owner.get("/assets?has_location=false").text


def test_the_page_has_a_control_for_each_and_names_the_others(
    owner: Browser, projects: None
) -> None:
    page = owner.get("/projects?has_external_id=true&external_id=b")
    assert "External ID is b" in page.text
    form = page.form("/projects")
    assert form.fields["external_id"] == "b"
    assert "has_external_id" not in form.fields  # it is in a menu, not in a hidden field
    markup = page.response.get_data(as_text=True)
    assert '<option value="true" selected>With</option>' in markup
    assert "with external ID" in owner.get("/eudr?has_external_id=true").text


def test_whatever_narrows_a_list_is_a_condition() -> None:
    """So that no short cut, such as a counter, ignores it."""
    assert ListQuery().conditions == set()
    assert ListQuery(2, 5, sort="name", order="asc", fields=("id",)).conditions == set()
    for name in set(ListQuery._fields) - {"filters", "page", "per_page", "sort", "order", "fields"}:
        assert ListQuery(**{name: ("x",)}).conditions == {name}
    assert ListQuery(filters={"status": "active"}).conditions == {"status"}


def test_each_filter_has_a_name_of_its_own() -> None:
    for table in (PROJECT, ASSET):
        names = [name for field in table for name in field.filters]
        assert len(filters_of(table)) == len(names) + names.count("range")
        assert not filters_of(table).keys() & set(ListQuery._fields)
