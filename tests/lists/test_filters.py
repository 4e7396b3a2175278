"""The filters that ``app.policy.fields`` declares, by every door."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from app.lists.query import ListQuery
from app.policy.fields import ASSET, PROJECT, filters_of
from tests.lists.doors import project_doors
from tests.make import Browser, Client, make_asset, make_project, point, square
from tests.pages.support import browser_of

WORLD = "-180,-90,180,90"
MIN, MAX = "min_area_hectares", "max_area_hectares"


@pytest.fixture
def owner(client: Client) -> Browser:
    return browser_of(client)


@pytest.fixture
def areas(client: Client) -> dict[str, float]:
    """The hectares of three squares, beside a project without a boundary. All but one have an
    external id."""
    made = {}
    for name, west, size in (("Small", 5, 0.01), ("Middle", 15, 0.1), ("Large", 25, 1)):
        external_id = None if name == "Middle" else name
        record = make_project(
            client, name=name, external_id=external_id, geometry=square(west, size=size)
        )
        made[name] = record["area_hectares"]
    assert client.post(f"/v1/projects/{record['id']}/archive").status_code == 200
    make_project(client, name="Bare", external_id="b")
    return made


@pytest.mark.both
def test_every_door_finds_the_same(
    client: Client, owner: Browser, areas: dict[str, float], subtests: pytest.Subtests
) -> None:
    """The bounds are inclusive."""
    middle, above, below, nearly_large = (
        f"{hectares:.4f}"
        for hectares in (
            areas["Middle"], areas["Middle"] + 0.0001, areas["Middle"] - 0.0001,
            areas["Large"] - 0.0001,
        )
    )  # fmt: skip
    for filters, names in (
        ({MIN: middle, MAX: middle}, ["Middle"]),
        ({MIN: middle}, ["Large", "Middle"]),
        ({MAX: middle}, ["Middle", "Small"]),
        ({MIN: above}, ["Large"]),
        ({MAX: below}, ["Small"]),
        ({MIN: above, MAX: nearly_large}, []),
        ({MIN: "0"}, ["Large", "Middle", "Small"]),
        ({MIN: "0", "status": "active"}, ["Middle", "Small"]),
        ({MIN: middle, "status": "archived"}, ["Large"]),
        ({MAX: middle, "bbox": WORLD, "search": "m"}, ["Middle", "Small"]),
        ({MAX: middle, "has_geometry": "true", "bbox": "4,40,6,60"}, ["Small"]),
        ({MIN: "0", "has_geometry": "false"}, []),
        ({"has_geometry": "true"}, ["Large", "Middle", "Small"]),
        ({"has_geometry": "false"}, ["Bare"]),
        ({"has_external_id": "true"}, ["Bare", "Large", "Small"]),
        ({"has_external_id": "false"}, ["Middle"]),
        ({"has_external_id": "true", "status": "active"}, ["Bare", "Small"]),
        ({"has_external_id": "true", "bbox": WORLD}, ["Large", "Small"]),
        ({"has_external_id": "false", "search": "middle"}, ["Middle"]),
        ({"has_external_id": "true", "has_geometry": "false"}, ["Bare"]),
    ):
        with subtests.test(filters=filters):
            found = project_doors(client, owner, filters)
            drawn = [name for name in names if name != "Bare"]
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


def test_numbers_are_taken_as_json_writes_them(client: Client, areas: dict[str, float]) -> None:
    for text, total in (("7.5e2", 2), ("1E+2", 2), ("1e-05", 3), ("9e11", 0), ("0.00", 3)):
        listed = client.get("/v1/projects", query_string={MIN: text}).json
        assert listed["meta"]["total"] == total, text
    refused = client.get("/v1/projects?max_area_hectares=1,5").json["error"]["details"]
    assert refused[0]["message"] == "Must be a number, such as 12.5."


@pytest.mark.both
def test_each_page_has_the_total_of_the_filters(client: Client, areas: dict[str, float]) -> None:
    query: dict[str, Any] = {
        MIN: areas["Middle"], "status": "active", "per_page": 2,
        "sort": "area_hectares", "order": "desc",
    }  # fmt: skip
    sizes = [
        make_project(client, geometry=square(40 + i, size=0.2 + i / 100))["area_hectares"]
        for i in range(6)
    ]
    found = []
    for page in (1, 2, 3, 4, 5):
        listed = client.get("/v1/projects", query_string=query | {"page": page}).json
        assert listed["meta"] == {"total": 7, "page": page, "per_page": 2, "total_pages": 4}
        found += [each["area_hectares"] for each in listed["data"]]
    assert found == [*sorted(sizes, reverse=True), areas["Middle"]]


def test_what_is_no_area_is_named(client: Client, subtests: pytest.Subtests) -> None:
    for name in (MIN, MAX):
        for value in ("x", "", "-1", "nan", "inf", "1e400", "1e300"):
            with subtests.test(name=name, value=value):
                refused = client.get("/v1/projects", query_string={name: value})
                assert refused.status_code == 400
                assert [each["field"] for each in refused.json["error"]["details"]] == [name]
    for path in ("/v1/projects", "/v1/projects/map?zoom=1", "/v1/exports/projects", "/v1/eudr"):
        with subtests.test(path=path):
            bounds = urlencode({MIN: "2", MAX: "1.9999"})
            refused = client.get(f"{path}{'&' if '?' in path else '?'}{bounds}")
            assert refused.status_code == 400
            assert refused.json["error"]["details"] == [
                {"field": MIN, "message": f"Must not be more than {MAX}.", "code": "too_large"}
            ]


def test_pages_tell_wrong_bounds_beside_other_wrong_filters(
    owner: Browser, areas: dict[str, float]
) -> None:
    query = "min_area_hectares=5&max_area_hectares=4&has_geometry=x&status=y"
    for path, status in (
        ("/projects", 200),
        ("/projects/map", 400),
        ("/projects/export", 400),
        ("/eudr", 200),
    ):
        page = owner.get(f"{path}?{query}")
        assert page.status == status
        body = page.response.get_data(as_text=True)
        for message in (
            "Hectares, at least: Must not be more than Hectares, at most.",
            "Boundary: Must be true or false.",
            "status: Must be one of",
        ):
            assert message in body, path


def test_a_wrong_filter_stays_in_its_control_and_filters_nothing(
    owner: Browser, areas: dict[str, float]
) -> None:
    page = owner.get(f"/projects?{MIN}=12%20ha&{MAX}=9999")
    fields = page.form("/projects").fields
    assert (fields[f"typed.{MIN}"], fields[f"typed.{MAX}"]) == ("12 ha", "9,999")
    assert "Hectares, at least: Must be a number" in page.text
    markup = page.response.get_data(as_text=True)
    assert '<details class="more-filters" open>' in markup
    assert f"/projects/export?{MAX}=9999&amp;format=" in markup
    markup = owner.get("/assets?type=No%20type").response.get_data(as_text=True)
    assert '<option value="No type" selected>' in markup


def test_numbers_are_typed_in_the_format_and_unit_of_their_reader(
    owner: Browser, areas: dict[str, float], subtests: pytest.Subtests
) -> None:
    for locale, unit, text, hectares, shown in (
        ("de-DE", "hectares", "7.966,4443", "7966.4443", "7.966,4443"),
        ("de-DE", "hectares", "7966.4443", "7966.4443", "7.966,4443"),
        ("en-US", "hectares", "7,966", "7966", "7,966"),
        ("ro-RO", "acres", "19.685,5", "7966.4392", "19.685,5"),
    ):
        with subtests.test(f"{locale} {unit} {text}"):
            owner.get("/profile")
            owner.submit("/profile/times", time_zone="UTC", locale=locale, area_unit=unit)
            typed = owner.get(f"/projects?{MAX}=9999").form("/projects").fields
            typed |= {f"typed.{MIN}": text, f"typed.{MAX}": ""}
            page = owner.get(f"/projects?{urlencode(typed)}")
            assert page.path == f"/projects?{MIN}={hectares}"
            assert "1 project " in page.text
            assert f"{unit.capitalize()}, at least" in page.text
            unchanged = page.form("/projects").fields
            assert unchanged[f"typed.{MIN}"] == shown
            assert owner.get(f"/projects?{urlencode(unchanged)}").path == page.path
            words = f"{unit.capitalize()} at least {shown}"
            assert words in owner.get(f"/eudr?{MIN}={hectares}").text


def test_a_text_that_is_no_number_stays_in_its_field(
    owner: Browser, areas: dict[str, float]
) -> None:
    page = owner.get(f"/projects?typed.{MIN}=7,9&typed.{MAX}=1,000")
    fields = page.form("/projects").fields
    assert (fields[f"typed.{MIN}"], fields[f"typed.{MAX}"]) == ("7,9", "1,000")
    assert "Hectares, at least: Must be a number" in page.text
    assert "1 project " in page.text  # at most 1,000 hectares


def test_the_page_has_a_control_for_each_and_names_the_others(
    owner: Browser, areas: dict[str, float]
) -> None:
    page = owner.get("/projects?has_external_id=true&external_id=b")
    assert "External ID is b" in page.text
    form = page.form("/projects")
    assert form.fields["external_id"] == "b"
    assert "has_external_id" not in form.fields  # it is in a menu, not in a hidden field
    markup = page.response.get_data(as_text=True)
    assert '<option value="true" selected>With</option>' in markup
    assert "with external ID" in owner.get("/eudr?has_external_id=true").text
    page = owner.get("/assets?updated_since=2026-01-01T01:00:00%2B01:00")
    assert "Updated at 01/01/2026, 12:00 AM UTC or later" in page.text


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
        assert len(filters_of(table)) == 1 + len(names) + names.count("range")
        assert not filters_of(table).keys() & set(ListQuery._fields)
