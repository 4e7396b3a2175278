"""The kinds of examples of the Commission's GeoJSON file description 1.3 (chapters 9.2, 9.4 and
9.5) and of vancebw/eudr-geojson-fixtures, and Whisp's results as GeoJSON, with places and names of
their own: imported, answered, applied and exported."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.eudr.validator import faults_of
from tests.imports.making import (
    act,
    answered,
    codes,
    counts,
    features_of,
    projects,
    uploaded,
)
from tests.make import Client, point, square
from tests.make.features import collection, feature

Json = dict[str, Any]

LIRA: Final = {"ProductionPlace": "Lira", "ProducerCountry": "UG"}
MERU: Final = {"ProductionPlace": "Meru", "ProducerCountry": "KE"}
OWN: Final = {"plot_id": "UG-LI-04", "commodity": "coffee", "area_ha": 1.3}
FIELD: Final = square(32.9, 2.2, 0.003)
OTHER: Final = square(37.6, 0.1, 0.003)
NEAR: Final = square(32.95, 2.2, 0.003)
CRS84: Final = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
PLOTS: Final = {"points_as_plots": True}


def of(kind: str, *coordinates: Any) -> Json:
    return {"type": kind, "coordinates": list(coordinates)}


def imported(client: Client, content: bytes, name: str = "farm.geojson") -> Json:
    """An import that was read; what the points are is answered where it is asked."""
    record = uploaded(client, content, name)
    if "geometry_type" in codes(record):
        record = answered(client, record, **PLOTS)
    return record


def exported(client: Client, **query: Any) -> list[Json]:
    """The plots of a file that the Information System takes."""
    query |= {"format": "eudr", "points": "true"}
    response = client.get("/v1/exports/projects", query_string=query)
    assert response.status_code == 200, response.json
    assert faults_of(response.data, variant=query.get("variant", 1)) == []
    features: list[Json] = response.get_json(force=True)["features"]
    return features


def shapes(features: list[Json]) -> list[tuple[str, str, float]]:
    """The place, type and area of each."""
    return [
        (
            each["properties"]["ProductionPlace"],
            each["geometry"]["type"],
            each["properties"]["Area"],
        )
        for each in features
    ]


# Features of a file of variant 2, and the places, areas and types of what is exported.
VALID: Final[dict[str, tuple[Json, list[tuple[str, str, float]]]]] = {
    "9.4.1, an area": (feature(FIELD, **LIRA, Area=11.07), [("Lira", "Polygon", 11.07)]),
    "9.2, several points": (
        feature(of("MultiPoint", [32.8, 2.2], [32.81, 2.2]), **LIRA, Area=1.5),
        [("Lira", "Point", 1.5), ("Lira", "Point", 1.5)],
    ),
    "9.2, several geometries": (
        feature({"type": "GeometryCollection", "geometries": [OTHER, point(32.7, 2.2)]}, **LIRA),
        [("Lira", "Polygon", 11.08), ("Lira", "Point", 4)],
    ),
    "9.2, an area of three numbers a position": (
        feature(of("Polygon", [[*each, 1080.5] for each in NEAR["coordinates"][0]]), **MERU),
        [("Meru", "Polygon", 11.07)],
    ),
    "9.2, a point of three numbers": (
        feature(of("Point", 32.6, 2.2, 1100), **LIRA, Area=0.7), [("Lira", "Point", 0.7)],
    ),
    "9.5, more than six decimals, two positions of which are equal": (
        feature(
            of("Polygon", [[33.9000001234, 2.2], [33.9000003456, 2.2], [33.903, 2.2],
                           [33.903, 2.203], [33.9000001234, 2.2]]),
            **LIRA,
        ),
        [("Lira", "Polygon", 5.54)],
    ),
    "two areas of one farm": (
        feature(of("MultiPolygon", square(34, 2.2, 0.003)["coordinates"],
                   square(34.006, 2.2, 0.003)["coordinates"]), **LIRA),
        [("Lira", "Polygon", 11.07)] * 2,
    ),
}  # fmt: skip


def test_what_is_valid_becomes_a_file_again(client: Client) -> None:
    record = imported(client, collection(*(row for row, _ in VALID.values()), crs=CRS84))
    assert set(codes(record)) <= {"name"}, record["questions"]
    assert counts(record)[1:] == (0, 0, 0), record["faults"]
    record = act(client, record, "apply")
    assert record["status"] == "applied"
    expected = sorted(shape for _, plots in VALID.values() for shape in plots)
    for found, shape in zip(sorted(shapes(exported(client, variant=2))), expected, strict=True):
        assert found == (shape[0], shape[1], pytest.approx(shape[2], abs=0.01))


def test_properties_in_another_case_and_area_as_text(client: Client) -> None:
    """Of chapter 9.5."""
    row = feature(FIELD, productionplace="Lira", producercountry="ug", area="3")
    act(client, imported(client, collection(row)), "apply")
    assert shapes(exported(client, variant=2)) == [
        ("Lira", "Polygon", pytest.approx(11.07, abs=0.01))
    ]


def test_a_feature_without_properties(client: Client) -> None:
    """Of chapter 9.2."""
    content = json.dumps({"type": "Feature", "geometry": point(32.9, 2.2)}).encode()
    act(client, imported(client, content), "apply")
    assert shapes(exported(client, producer_country="UG")) == [("farm 1", "Point", 4)]


def test_a_column_of_its_own_has_the_names(client: Client) -> None:
    for row, name in (
        (feature(FIELD, stand="4a", department=12, year=2011), "4a"),
        (feature(FIELD, **OWN), "UG-LI-04"),
    ):
        record = imported(client, collection(row, metadata={"note": "made up"}))
        assert [each["name"] for each in features_of(client, record)] == [name]


def test_producers_without_names_are_grouped_by_country(client: Client) -> None:
    content = collection(
        feature(FIELD, **LIRA, Area=11.07),
        feature(OTHER, **MERU, Area=11.08),
        feature(square(32.8, 2.2, 0.001), **LIRA, Area=1.23),
    )
    act(client, imported(client, content), "apply")
    report = client.get("/v1/eudr?variant=1").json["data"]
    assert (report["ready"], report["producers"]) == (True, 2)
    assert report["warning_counts"] == {"producer_missing": 3, "several_producers": 1}
    listed = [each["properties"]["ProducerCountry"] for each in exported(client, variant=2)]
    assert listed == ["KE", "UG", "UG"]


# A geometry, the code of its fault, and a part of what is said.
REJECTED: Final = {
    "9.2, a point in a list": (
        of("Point", [32.9, 2.2]), "wrong_nesting", "it must be one position",
    ),
    "9.2, lines": (
        of("MultiLineString", [[32.9, 2.2], [33, 2.2]]), "wrong_type", "is a line",
    ),
    "9.5, sides that lie on one another": (
        of("Polygon", [
            [32, 2], [33, 2], [33, 3], [32.5, 3], [32.5, 2.5], [32.5, 3], [32, 3], [32, 2],
        ]),
        "self_intersection", "cross or touch",
    ),
    "9.5, a straight line": (
        of("Polygon", [[32, 2], [33, 3], [34, 4], [32, 2]]), "zero_area", "",
    ),
    "a figure of eight": (
        of("Polygon", [[32, 2], [32.01, 2.01], [32.01, 2], [32, 2.01], [32, 2]]),
        "self_intersection", "cross or touch",
    ),
    "an open ring": (
        of("Polygon", FIELD["coordinates"][0][:-1]),
        "not_closed", "end at the corner where it begins",
    ),
    "a hole that is the outline": (
        of("Polygon", *FIELD["coordinates"] * 2), "hole_outside", "not inside its part",
    ),
    "a latitude beyond the pole": (point(32.9, 202.25), "out_of_range", "latitude 202.25"),
}  # fmt: skip


def test_what_is_wrong_is_named(client: Client) -> None:
    rows = [feature(geometry, **LIRA) for geometry, _, _ in REJECTED.values()]
    record = imported(client, collection(*rows))
    assert counts(record) == (0, 0, 0, len(REJECTED)), record["questions"]
    messages = " ".join(fault["message"] for fault in record["faults"])
    for row, (_, code, said) in zip(features_of(client, record), REJECTED.values(), strict=True):
        assert [problem["code"] for problem in row["problems"]] == [code]
        assert said in messages


def test_what_has_no_geometry_asks(client: Client) -> None:
    row = {"type": "Feature", "properties": LIRA, "geomerty": FIELD}
    record = imported(client, collection(row))
    assert codes(record) == ["geometry"]
    assert client.post(f"/v1/imports/{record['id']}/apply").status_code == 409
    assert ['"geomerty"' in each for each in record["notes"]] == [True]


def test_columns_that_are_swapped_beyond_the_range_are_swapped_back(client: Client) -> None:
    text = b"plot_id,latitude,longitude\nID-01,113.421873,-2.215534\nID-02,113.425101,-2.217720\n"
    record = imported(client, text, "farm.csv")
    assert (codes(record), counts(record)) == (["swapped"], (0, 0, 0, 2))
    assert "the two look swapped" in record["faults"][0]["message"]
    record = answered(client, record, swap=True)
    assert (codes(record), counts(record)) == ([], (2, 0, 0, 0))
    act(client, record, "apply")
    places = [each["geometry"]["coordinates"] for each in exported(client, producer_country="ID")]
    assert places == [[113.421873, -2.215534], [113.425101, -2.21772]]


def whisp(number: int, geometry: Json, risk: str) -> Json:
    """A feature of Whisp's results, with more columns than metadata have."""
    years = [f"{name}_{year}" for name in ("TMF_def", "TMF_deg") for year in range(2000, 2025)]
    columns = {
        "plotId": str(number), "external_id": None, "Area": 1.2, "Geometry_type": geometry["type"],
        "Country": "UGA", "ProducerCountry": "UG", "Admin_Level_1": "Lango", "Unit": "ha",
        "In_waterbody": False, **dict.fromkeys(years, 0.0), "GFC_loss_after_2020": 0.25,
        "Ind_01_treecover": "yes", "Ind_04_disturbance_after_2020": "no", "risk_pcrop": risk,
        "risk_acrop": risk, "risk_timber": "low", "whisp_processing_metadata": {"version": "9"},
    }  # fmt: skip
    return feature(geometry, **columns)


def test_whisps_results_as_geojson(client: Client) -> None:
    rows = [whisp(1, square(32.9, 2.2, 0.001), "low"), whisp(2, point(33, 2.2), "more_info_needed")]
    record = imported(client, collection(*rows))
    assert (codes(record), counts(record)) == ([], (2, 0, 0, 0))
    assert record["mapping"]["name"] == "plotId"
    wanted = {
        name: value
        for name, value in rows[0]["properties"].items()
        if name[:4] in ("Area", "Coun", "Prod", "Ind_", "risk", "GFC_")
    }
    left_out = rows[0]["properties"].keys() - set(record["mapping"]["metadata"])
    (note,) = [each for each in record["notes"] if "Left out" in each]
    assert all(name in note for name in left_out - {"plotId", "external_id"}), note
    record = act(client, record, "apply")
    assert wanted.items() <= projects(client)["1"]["metadata"].items()
    for query in ("risk_pcrop=low", "Ind_01_treecover=yes", "Country=UGA"):
        found = client.get(f"/v1/projects?metadata.{query}").json["data"]
        assert [each["name"] for each in found] == ["1"], query
    path = f"/v1/projects/{record['project_id']}/assets"
    (kept,) = client.get(f"{path}?metadata.risk_pcrop=more_info_needed").json["data"]
    assert (kept["name"], kept["type"]) == ("2", "plot")
    assert shapes(exported(client, variant=2)) == [("1", "Polygon", 1.2), ("2", "Point", 1.2)]
