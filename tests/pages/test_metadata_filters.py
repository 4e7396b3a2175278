"""The lists of projects and assets, filtered by a key of the metadata."""

from __future__ import annotations

import orjson
import pytest

from app.policy.forms import FIELD_LENGTH
from tests.make import Browser, Client, make_asset, make_project, square
from tests.pages.support import json_of


@pytest.fixture
def projects(client: Client) -> list[str]:
    metadata = ({"risk": "high", "n": 5}, {"risk": "low"}, {"risk": "high", "parts": [1]})
    return [
        make_project(client, name=f"Plot {n}", metadata=each, geometry=square(10 * n))["id"]
        for n, each in enumerate(metadata)
    ]


def test_the_list_the_map_and_the_export_have_the_same(owner: Browser, projects: list[str]) -> None:
    page = owner.get("/projects?metadata.risk=high")
    assert "2 projects" in page.text
    assert "Plot 0" in page.text
    assert "Plot 1" not in page.text
    assert "risk is high" in page.text
    form = page.form("/projects")
    assert form.fields["metadata.risk"] == "high"
    drawn = json_of(owner, "/projects/map?metadata.risk=high&zoom=3")
    assert {each["id"] for each in drawn["features"]} == {projects[0], projects[2]}
    file = owner.get("/projects/export?metadata.risk=high&format=geojson").response
    found = [each["id"] for each in orjson.loads(file.get_data())["features"]]
    assert found == [projects[0], projects[2]]


def test_a_value_of_a_record_leads_to_all_that_have_it(
    client: Client, owner: Browser, projects: list[str]
) -> None:
    markup = owner.get(f"/projects/{projects[0]}").response.get_data(as_text=True)
    assert 'href="/projects?status=any&amp;metadata.risk=high"' in markup
    assert 'href="/projects?status=any&amp;metadata.n=5"' in markup
    markup = owner.get(f"/projects/{projects[2]}").response.get_data(as_text=True)
    assert "metadata.parts" not in markup
    asset = make_asset(client, projects[0], metadata={'model "A&B"': True})
    markup = owner.get(f"/assets/{projects[0]}/{asset['id']}").response.get_data(as_text=True)
    assert 'href="/assets?metadata.model+%22A%26B%22=true"' in markup
    assert "1 asset" in owner.get("/assets?metadata.model+%22A%26B%22=true").text
    assert "Nothing found" in owner.get("/assets?metadata.model=true").text


def test_only_what_fits_into_an_address_leads_to_a_list(client: Client, owner: Browser) -> None:
    longest = "x" * FIELD_LENGTH
    key = longest.removeprefix("x" * len("metadata."))
    metadata = {"long": longest, "longer": f"{longest}x", key: "1", f"{key}y": "1"}
    record = make_project(client, metadata=metadata)
    links = owner.get(f"/projects/{record['id']}").links
    found = [link for link in links if "metadata." in link]
    assert len(found) == 2
    for link in found:
        assert "1 project" in owner.get(link).text


def test_wrong_filters_are_told_and_left_out(owner: Browser, projects: list[str]) -> None:
    many = "&".join(f"metadata.k{number}=1" for number in range(11))
    page = owner.get(f"/projects?{many}")
    assert "metadata.k10: A list is filtered by at most 10 keys" in page.text
    assert owner.get(f"/projects/export?{many}").status == 400
