"""The kinds of examples of the Commission's GeoJSON file description 1.3 (chapters 9.2, 9.4 and
9.5) and of vancebw/eudr-geojson-fixtures, and Whisp's results as GeoJSON, with places and names of
their own: imported, answered, applied and exported."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.eudr_validator import faults_of
from tests.imports.making import act, answered, codes, counts, projects, read, upload, work
from tests.make import Client, point, square
from tests.make.features import collection, feature

Json = dict[str, Any]

LIRA: Final = {"ProductionPlace": "Lira", "ProducerCountry": "UG"}
MERU: Final = {"ProductionPlace": "Meru", "ProducerCountry": "KE"}
OWN: Final = {"plot_id": "UG-LI-04", "commodity": "coffee", "area_ha": 1.3}
FIELD: Final = square(32.9, 2.2, 0.003)
OTHER: Final = square(37.6, 0.1, 0.003)
CRS84: Final = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
PLOTS: Final = {"points_as_plots": True}


def of(kind: str, *coordinates: Any) -> Json:
    return {"type": kind, "coordinates": list(coordinates)}


def bare(geometry: Json) -> bytes:
    """A feature alone, without properties."""
    return json.dumps({"type": "Feature", "geometry": geometry}).encode()


def imported(client: Client, content: bytes, name: str = "farm.geojson") -> Json:
    """An import that was read; what the points are is answered where it is asked."""
    response = upload(client, content, name)
    assert response.status_code == 202, response.json
    work(client)
    record = read(client, response.json["data"]["id"])
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


def shapes(features: list[Json]) -> list[tuple[Any, Any, str]]:
    return [
        (
            each["properties"]["ProductionPlace"],
            each["properties"]["Area"],
            each["geometry"]["type"],
        )
        for each in features
    ]


# The content, the variant, and the places, areas and types of what is exported.
VALID: Final[dict[str, tuple[bytes, int, list[tuple[str, float, str]]]]] = {
    "9.4.1, of one producer": (
        collection(
            feature(FIELD, **LIRA, Area=11.07),
            feature(square(32.8, 2.2, 0.001), **LIRA | {"ProductionPlace": "Apac"}, Area=1.25),
        ),
        1,
        [("Apac", 1.25, "Polygon"), ("Lira", 11.07, "Polygon")],
    ),
    "9.4.2, of several producers without names": (
        collection(
            feature(FIELD, **LIRA, Area=11.07),
            feature(OTHER, **MERU, Area=11.08),
            feature(square(32.8, 2.2, 0.001), **LIRA, Area=1.23),
        ),
        2,
        [("Meru", 11.08, "Polygon"), ("Lira", 11.07, "Polygon"), ("Lira", 1.23, "Polygon")],
    ),
    "9.2, a feature without properties": (bare(point(32.9, 2.2)), 1, [("farm 1", 4, "Point")]),
    "9.2, a point and an area with other properties": (
        collection(
            feature(point(32.8, 2.2), colour="red"),
            feature(FIELD, colour="red", size={"of": "many"}),
        ),
        1,
        [("farm 1", 4, "Point"), ("farm 2", pytest.approx(11.07, abs=0.01), "Polygon")],
    ),
    "9.2, several points": (
        collection(feature(of("MultiPoint", [32.8, 2.2], [32.81, 2.2]), **LIRA, Area=1.5)),
        2,
        [("Lira", 1.5, "Point"), ("Lira", 1.5, "Point")],
    ),
    "9.2, several geometries": (
        collection(
            feature({"type": "GeometryCollection", "geometries": [FIELD, point(32.8, 2.2)]}, **LIRA)
        ),
        2,
        [("Lira", pytest.approx(11.07, abs=0.01), "Polygon"), ("Lira", 4, "Point")],
    ),
    "9.2, positions of three numbers": (
        collection(
            feature(of("Polygon", [[*each, 1080.5] for each in FIELD["coordinates"][0]]), **LIRA),
            feature(of("Point", 32.8, 2.2, 1100), **LIRA, Area=0.7),
        ),
        2,
        [("Lira", pytest.approx(11.07, abs=0.01), "Polygon"), ("Lira", 0.7, "Point")],
    ),
    "9.5, more than six decimals, two positions of which are equal": (
        collection(
            feature(
                of("Polygon", [[32.9000001234, 2.2], [32.9000003456, 2.2], [32.903, 2.2],
                               [32.903, 2.203], [32.9000001234, 2.2]]),
                **LIRA,
            )
        ),
        2,
        [("Lira", pytest.approx(5.54, abs=0.01), "Polygon")],
    ),
    "9.5, properties in another case, and Area as text": (
        collection(feature(FIELD, productionplace="Lira", producercountry="ug", area="3")),
        2,
        [("Lira", pytest.approx(11.07, abs=0.01), "Polygon")],
    ),
    "one part with fifteen decimals, named coordinates, columns of its own": (
        collection(
            feature(
                of("MultiPolygon", [[[32.912345678901234, 2.2], [32.92, 2.200000000000017],
                                     [32.92, 2.21], [32.912345678901234, 2.2]]]),
                stand="4a", department=12, year=2011,
            ),
            name="stands", crs=CRS84,
        ),
        1,
        [("4a", pytest.approx(47.07, abs=0.01), "Polygon")],
    ),
    "a point with an id and a commodity": (
        collection(feature(point(32.9, 2.2), **OWN), name="sheet", metadata={"note": "made up"}),
        1,
        [("UG-LI-04", 4, "Point")],
    ),
    "an area with an id and a commodity": (
        collection(feature(FIELD, **OWN), metadata={"country": "UG"}),
        1,
        [("UG-LI-04", pytest.approx(11.07, abs=0.01), "Polygon")],
    ),
    "two areas of one farm": (
        collection(
            feature(of("MultiPolygon", FIELD["coordinates"],
                       square(32.906, 2.2, 0.003)["coordinates"]), **OWN)
        ),
        1,
        [("UG-LI-04", pytest.approx(11.07, abs=0.01), "Polygon")] * 2,
    ),
    "a point without an id": (
        collection(feature(point(32.9, 2.2), name="Field 6")),
        1,
        [("Field 6", 4, "Point")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALID)
def test_what_is_valid_becomes_a_file_again(client: Client, kind: str) -> None:
    content, variant, expected = VALID[kind]
    record = imported(client, content)
    assert set(codes(record)) <= {"name"}, record["questions"]
    assert counts(record)[1:] == (0, 0, 0), record["faults"]
    record = act(client, record, "apply")
    assert record["status"] == "applied"
    assert sorted(shapes(exported(client, variant=variant)), key=repr) == sorted(expected, key=repr)


def test_producers_without_names_are_grouped_by_country(client: Client) -> None:
    content = VALID["9.4.2, of several producers without names"][0]
    act(client, imported(client, content), "apply")
    report = client.get("/v1/eudr?variant=1").json["data"]
    assert (report["ready"], report["producers"]) == (True, 2)
    assert report["warning_counts"] == {"producer_missing": 3, "several_producers": 1}
    listed = [each["properties"]["ProducerCountry"] for each in exported(client, variant=2)]
    assert listed == ["KE", "UG", "UG"]


# The content, the code of its fault, and a part of what is said.
REJECTED: Final = {
    "9.2, a point in a list, without properties": (
        bare(of("Point", [32.9, 2.2])), "wrong_nesting", "it must be one position",
    ),
    "9.2, lines": (
        collection(feature(of("MultiLineString", [[32.9, 2.2], [33, 2.2]]), **LIRA)),
        "wrong_type", "is a line",
    ),
    "9.5, sides that lie on one another": (
        collection(feature(of("Polygon", [
            [32, 2], [33, 2], [33, 3], [32.5, 3], [32.5, 2.5], [32.5, 3], [32, 3], [32, 2],
        ]), **LIRA)),
        "self_intersection", "cross or touch",
    ),
    "9.5, a straight line": (
        collection(feature(of("Polygon", [[32, 2], [33, 3], [34, 4], [32, 2]]), **LIRA)),
        "zero_area", "",
    ),
    "a figure of eight": (
        collection(feature(of("Polygon", [
            [32, 2], [32.01, 2.01], [32.01, 2], [32, 2.01], [32, 2],
        ]), **OWN)),
        "self_intersection", "cross or touch",
    ),
    "an open ring": (
        collection(feature(of("Polygon", FIELD["coordinates"][0][:-1]), **OWN)),
        "not_closed", "end at the corner where it begins",
    ),
    "a hole that is the outline": (
        collection(feature(of("Polygon", *FIELD["coordinates"] * 2), **OWN)),
        "hole_outside", "not inside its part",
    ),
    "a latitude beyond the pole": (
        collection(feature(point(32.9, 202.25), **OWN)), "out_of_range", "latitude 202.25",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REJECTED)
def test_what_is_wrong_is_named(client: Client, kind: str) -> None:
    content, code, said = REJECTED[kind]
    record = imported(client, content)
    assert (counts(record), codes(record)) == ((0, 0, 0, 1), []), record["questions"]
    (fault,) = record["faults"]
    assert fault["code"] == code
    assert said in fault["message"]


KML: Final = b"<kml><Document><Placemark><name>A</name><Point><coordinates>32.9,2.2</coord"
FAILED: Final = {
    "9.5, a brace is missing": ("a.geojson", VALID["a point without an id"][0][:-2], "incomplete"),
    "9.5, a PDF": ("a.pdf", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n", "PDF"),
    "9.5, a text": ("a.txt", b"Our fields lie north of the road.\nThey are small.\n", "not known"),
    "KML that ends in the middle": ("a.kml", KML, "incomplete"),
}


@pytest.mark.parametrize("kind", FAILED)
def test_what_is_no_file_of_plots_fails(client: Client, kind: str) -> None:
    name, content, said = FAILED[kind]
    record = imported(client, content, name)
    assert record["status"] == "failed"
    assert said in record["message"]


@pytest.mark.parametrize(
    ("row", "note"),
    [
        (feature(None, **OWN), None),
        ({"type": "Feature", "properties": LIRA, "geomerty": FIELD}, '"geomerty"'),
    ],
)
def test_what_has_no_geometry_asks(client: Client, row: Json, note: str | None) -> None:
    record = imported(client, collection(row))
    assert codes(record) == ["geometry"]
    assert client.post(f"/v1/imports/{record['id']}/apply").status_code == 409
    assert [note in each for each in record["notes"]] == ([True] if note else [])


def test_columns_that_are_swapped_beyond_the_range_are_swapped_back(client: Client) -> None:
    text = b"plot_id,latitude,longitude\nID-01,113.421873,-2.215534\nID-02,113.425101,-2.217720\n"
    record = imported(client, text, "farm.csv")
    assert (codes(record), counts(record)) == (["swapped"], (0, 0, 0, 2))
    assert "the two look swapped" in record["faults"][0]["message"]
    record = answered(client, record, swap=True)
    assert (codes(record), counts(record)) == ([], (2, 0, 0, 0))
    act(client, record, "apply")
    places = [each["geometry"]["coordinates"] for each in exported(client)]
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
    assert shapes(exported(client, variant=2)) == [("1", 1.2, "Polygon"), ("2", 1.2, "Point")]
