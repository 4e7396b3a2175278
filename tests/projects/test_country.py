"""The country of projects: derived, shown, filtered by, and derived later where it is missing."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from app.db.extensions import db
from app.db.transactions import transaction
from app.doctor.derived import wrong_rows
from app.geometry.countries import location
from app.policy.countries import DATA_VERSION
from app.projects import country_backlog, jobs
from tests.countries import needs_countries
from tests.make import Client, make_project, square

pytestmark = needs_countries

GERMAN, FRENCH, AT_SEA = square(10, 50), square(2.5, 47), square(-30, 0)


def _ids(client: Client, path: str) -> list[str]:
    response = client.get(path)
    assert response.status_code == 200, response.json
    found = response.json["data" if path.startswith("/v1") else "features"]
    return [each["id"] for each in found]


def _stored(client: Client, project: dict[str, Any]) -> tuple[str | None, int | None]:
    with client.app.app_context():
        statement = text("SELECT country, country_version FROM projects WHERE id = :id")
        return tuple(db.session.execute(statement, {"id": project["id"]}).one())


def _forget(client: Client, *, boundary: str | None = None) -> None:
    """As while the countries are not installed."""
    with client.app.app_context(), transaction():
        values = {"id": client.account_id}
        nulls = "country = NULL, country_version = NULL"
        db.session.execute(text(f"UPDATE projects SET {nulls} WHERE account_id = :id"), values)
        if boundary is not None:
            values["geometry"] = boundary
            changed = "UPDATE projects SET geometry = :geometry WHERE account_id = :id"
            db.session.execute(text(changed), values)


def _derive(client: Client) -> int:
    with client.app.app_context():
        return jobs.derive_countries() if country_backlog.is_due() else 0


@pytest.mark.both
def test_it_is_that_of_the_boundary(client: Client) -> None:
    made = make_project(client, geometry=GERMAN)
    assert made["country"] == "DE"
    path = f"/v1/projects/{made['id']}"
    assert client.get(path).json["data"]["country"] == "DE"
    assert client.put(path, json={"geometry": FRENCH}).json["data"]["country"] == "FR"
    assert client.put(path, json={"geometry": None}).json["data"]["country"] is None
    assert _stored(client, made) == (None, None)


def test_it_is_null_without_a_boundary_and_where_there_is_no_land(client: Client) -> None:
    assert make_project(client)["country"] is None
    made = make_project(client, name="Sea", geometry=AT_SEA)
    assert made["country"] is None
    assert _stored(client, made) == (None, DATA_VERSION)


def test_nobody_sets_it(client: Client) -> None:
    made = make_project(client, geometry=GERMAN, country="FR")
    assert made["country"] == "DE"
    changed = client.put(f"/v1/projects/{made['id']}", json={"country": "FR"})
    assert changed.json["data"] == made


@pytest.mark.both
def test_lists_are_filtered_by_it(client: Client) -> None:
    one = make_project(client, name="One", geometry=GERMAN)
    other = make_project(client, name="Other", geometry=FRENCH)
    make_project(client, name="Nowhere")
    assert _ids(client, "/v1/projects?country=DE") == [one["id"]]
    assert _ids(client, "/v1/projects?country=FR&status=active&search=oth") == [other["id"]]
    assert _ids(client, "/v1/projects?country=FR&search=one") == []
    items = "/ogc/collections/projects/items"
    assert _ids(client, f"{items}?country=FR") == [other["id"]]
    assert _ids(client, f"{items}?filter=country%20IN%20('DE','CH')") == [one["id"]]
    assert len(_ids(client, f"{items}?filter=country%20IS%20NULL")) == 1
    exported = client.get("/v1/exports/projects?format=geojson&country=DE").json["features"]
    assert [each["properties"]["country"] for each in exported] == ["DE"]


def test_only_codes_of_countries_are_filtered_by(client: Client) -> None:
    for code in ("de", "UK", "Germany", ""):
        response = client.get(f"/v1/projects?country={code}")
        assert response.status_code == 400
        assert [each["field"] for each in response.json["error"]["details"]] == ["country"]


def test_metadata_of_that_name_is_another_property_of_features(client: Client) -> None:
    metadata = {"country": "Deutschland"}
    made = make_project(client, geometry=GERMAN, metadata=metadata)
    assert (made["country"], made["metadata"]) == ("DE", metadata)
    [feature] = client.get("/ogc/collections/projects/items").json["features"]
    assert feature["properties"]["country"] == "DE"
    assert feature["properties"]["metadata_country"] == "Deutschland"


@pytest.mark.both
def test_a_job_derives_what_is_missing(client: Client) -> None:
    german = make_project(client, name="One", geometry=GERMAN)
    border = make_project(client, name="Border", geometry=square(7.9, 48.2, 0.4))
    sea = make_project(client, name="Sea", geometry=AT_SEA)
    none = make_project(client, name="None")
    _forget(client)
    assert _ids(client, "/v1/projects?country=DE") == []
    assert _derive(client) >= 3
    assert _stored(client, german) == _stored(client, border) == ("DE", DATA_VERSION)
    assert _stored(client, sea) == (None, DATA_VERSION)
    assert _stored(client, none) == (None, None)
    assert _ids(client, "/v1/projects?country=DE&sort=name") == [border["id"], german["id"]]
    assert _derive(client) == 0


def test_what_a_request_has_no_time_for_is_derived_later(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The boundary is valid, and stored."""
    border = square(7.9, 48.2, 0.4)
    with monkeypatch.context() as patch:
        patch.setattr(location, "POSITIONS_HERE", 0)
        patch.setattr(location, "COUNTRIES_LATEST", 0)
        made = make_project(client, geometry=border)
        report = client.post("/v1/geometry/validate", json={"geometry": border}).json["data"]
    assert (made["country"], made["area_hectares"]) == (None, report["area_hectares"])
    assert _stored(client, made) == (None, None)
    assert report["valid"]
    assert [each["code"] for each in report["warnings"]] == ["countries_not_checked"]
    assert _derive(client) >= 1
    assert _stored(client, made) == ("DE", DATA_VERSION)


def test_a_shape_that_is_too_complex_to_compare_is_in_no_country(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job tries it once."""
    made = make_project(client, geometry=square(7.9, 48.2, 0.4))
    _forget(client)
    monkeypatch.setattr(location, "POSITIONS_HERE", 0)
    monkeypatch.setattr(location, "COUNTRIES_SECONDS", 0)
    assert _derive(client) >= 1
    assert _stored(client, made) == (None, DATA_VERSION)
    assert _derive(client) == 0
    with client.app.app_context():
        assert made["id"] not in {row.id for row in wrong_rows(db.session.connection())}


def test_what_sql_has_broken_does_not_hold_up_the_others(client: Client) -> None:
    make_project(client, name="Border", geometry=square(7.5, 48.2, 0.4))
    _forget(client, boundary="{}")
    assert _derive(client) >= 1
    assert _derive(client) == 0


def test_without_the_countries_nothing_is_derived_until_they_are_there(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(location, "load_world", lambda: None)
        patch.setattr(country_backlog, "has_world", lambda: False)
        made = make_project(client, geometry=GERMAN)
        assert made["country"] is None
        assert _derive(client) == 0
    assert _derive(client) >= 1
    assert _stored(client, made) == ("DE", DATA_VERSION)
