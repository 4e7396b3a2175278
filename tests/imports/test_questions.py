"""What is asked about a file, what its answers do, and what cannot be applied before them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.readers.gdal import write, zipped
from tests.imports.making import (
    act,
    answered,
    codes,
    counts,
    features_of,
    projects,
    read,
    ready,
    uploaded,
)
from tests.make import Client, make_project, point, square
from tests.make.features import collection, feature

WALK = [[10.0, 47.0], [10.01, 47.0], [10.01, 47.01], [10.0, 47.01], [10.0, 47.0005]]


def table(client: Client, text: str, **form: Any) -> dict[str, Any]:
    return uploaded(client, text.encode(), "rows.csv", **form)


def refused(client: Client, record: dict[str, Any]) -> tuple[str, str]:
    response = client.post(f"/v1/imports/{record['id']}/apply")
    assert response.status_code == 409
    (detail,) = response.json["error"]["details"]
    return detail["code"], detail["field"]


def test_systems_that_put_the_shapes_next_to_projects_are_offered(client: Client) -> None:
    make_project(client, geometry=square(9.0, 46.9, 0.1))
    shape = {"type": "Polygon", "coordinates": [[[5e5, 52e5], [501e3, 52e5], [501e3, 5201e3],
             [5e5, 52e5]]]}  # fmt: skip
    record = ready(client, feature(shape, name="A"))
    (question,) = record["questions"]
    assert question["code"] == "crs"
    first = question["options"][0]
    assert first["put"] == {"crs": "EPSG:25832"}
    assert first["label"].startswith(
        "EPSG:25832 · ETRS89 / UTM zone 32N (Europe between 6°E and 12°E"
    )
    assert first["features"] == 1
    assert first["bbox"] == pytest.approx([9.0, 46.95, 9.0, 46.95], abs=0.01)
    assert refused(client, record) == ("crs_unknown", "crs")
    record = answered(client, record, **first["put"])
    assert (record["questions"], counts(record)) == ([], (1, 0, 0, 0))


def test_a_file_without_geometries_is_applied_if_somebody_says_so(client: Client) -> None:
    record = table(client, "name,note\nA,x\nB,y\n")
    assert codes(record) == ["geometry"]
    column, without = record["questions"][0]["options"]
    assert column["put"] == {"mapping": {"geometry": None}}
    assert column["sample"] == {"name": ["A", "B"], "note": ["x", "y"]}
    assert (without["label"], without["features"]) == ("Import without boundaries", 2)
    assert refused(client, record) == ("unanswered", "geometry")
    record = answered(client, record, **without["put"])
    assert codes(record) == []
    assert counts(act(client, record, "apply")) == (2, 0, 0, 0)


def test_a_table_of_a_shapefile_needs_no_coordinate_system(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    write(
        folder / "a.shp", "ESRI Shapefile", [None], columns={"name": ["A"]}, geometry_type="Polygon"
    )
    record = uploaded(client, zipped(folder, ".prj").read_bytes(), "a.zip")
    assert codes(record) == ["geometry"]
    record = answered(client, record, without_boundaries=True)
    assert counts(act(client, record, "apply")) == (1, 0, 0, 0)


def test_geometries_that_cannot_be_read_are_no_question(client: Client) -> None:
    record = table(client, 'name,lat,lon\nA,"47,1,2",10\nB,x,10\n', without_boundaries="false")
    assert codes(record) == []
    assert counts(record) == (0, 0, 0, 2)


def test_a_column_is_named_for_the_geometry(client: Client) -> None:
    """It holds none in the first rows, by which such columns are found."""
    rows = "".join(f'P{n},""\n' for n in range(120))
    wkt = "POLYGON((10 47,10.01 47,10.01 47.01,10 47))"
    record = table(client, f'name,umriss\nA,"{wkt}"\n{rows}'.replace('A,"POLY', 'A,"see POLY', 1))
    assert codes(record) == ["geometry"]
    wrong = answered(client, record, mapping={"geometry": "name"})
    assert wrong["status"] == "failed"
    assert wrong["message"].startswith('"name" has no geometries.')


@pytest.mark.parametrize(
    ("header", "row", "mapping"),
    [
        ("name,p,q", "A,47.5,8.25", {"latitude": "p", "longitude": "q"}),
        ("name,p,q,r", "A,443493,5261137,32N", {"easting": "p", "northing": "q", "zone": "r"}),
    ],
)
def test_columns_are_named_for_the_coordinates(
    client: Client, header: str, row: str, mapping: dict[str, str]
) -> None:
    project = make_project(client)["id"]
    record = table(client, f"{header}\n{row}\n", kind="assets", project_id=project)
    assert codes(record) == ["geometry"]
    record = answered(client, record, mapping=mapping)
    assert (codes(record), counts(record)) == ([], (1, 0, 0, 0))
    assert {name: record["mapping"][name] for name in mapping} == mapping
    act(client, record, "apply")
    (asset,) = client.get(f"/v1/projects/{project}/assets").json["data"]
    assert asset["location"]["coordinates"] == pytest.approx([8.25, 47.5], abs=0.002)


def test_named_columns_stay_when_points_become_assets(client: Client) -> None:
    mapping = {"latitude": "p", "longitude": "q"}
    record = table(client, "name,p,q\nA,47.5,8.25\n", mapping=json.dumps(mapping))
    assert codes(record) == ["geometry_type"]
    put = {"kind": "assets", "project_id": make_project(client)["id"]}
    record = answered(client, record, **put)
    assert (codes(record), record["counts"]["without_boundary"]) == ([], 0)


def test_columns_of_coordinates_belong_together(client: Client) -> None:
    record = table(client, "name,a,b,c\nA,1,2,3\n")
    for mapping in (
        {"latitude": "a"},
        {"geometry": "a", "latitude": "b", "longitude": "c"},
        {"zone": "a"},
    ):
        response = client.put(f"/v1/imports/{record['id']}", json={"mapping": mapping})
        assert response.status_code == 422, mapping
        assert response.json["error"]["details"][0]["field"] == "mapping"


CORNERS = (
    "name,plot,lat,lon\n"
    "1,North,47,10\n2,North,47,10.01\n3,North,47.01,10.01\n4,North,47.01,10\n"
    "5,South,46,10\n6,South,46,10.01\n7,South,46.01,10.01\n"
)


def test_points_are_the_corners_of_areas(client: Client) -> None:
    record = table(client, CORNERS)
    (question,) = record["questions"]
    assert question["code"] == "geometry_type"
    assert [option["put"] for option in question["options"]] == [
        {"corners_by": "plot"},
        {"kind": "assets", "project_id": None},
        {"corners_by": ""},
    ]
    assert question["options"][0]["sample"] == {"plot": ["North", "South"]}
    assert refused(client, record) == ("unanswered", "geometry_type")
    record = answered(client, record, corners_by="plot")
    assert (codes(record), counts(record), record["corners_by"]) == ([], (2, 0, 0, 0), "plot")
    assert record["progress"] == {"done": 2, "total": 2}
    assert "The points were joined to boundaries, in the order of the file." in record["notes"]
    act(client, record, "apply")
    made = projects(client)
    assert made["North"]["area_hectares"] == pytest.approx(84.5443, abs=0.01)
    assert made["North"]["metadata"] is None
    assert made["South"]["geometry"]["coordinates"][0][0] == [10, 46]


def test_all_points_are_the_corners_of_one_area(client: Client) -> None:
    corners = square(10, 47, 0.01)["coordinates"][0]
    points = [feature(point(*corner), owner="Ana") for corner in corners]
    record = ready(client, *points, corners_by="")
    assert counts(record) == (1, 0, 0, 0)
    act(client, record, "apply")
    (made,) = projects(client).values()
    assert made["metadata"] == {"owner": "Ana"}
    assert len(made["geometry"]["coordinates"][0]) == 5


def test_too_few_corners_are_a_fault(client: Client) -> None:
    record = table(client, "plot,lat,lon\nN,47,10\nN,47,10.01\n", corners_by="plot")
    assert counts(record) == (0, 0, 0, 1)


def test_corners_are_of_projects_alone(client: Client) -> None:
    record = ready(client, feature(point(), name="A"))
    project = make_project(client)["id"]
    body = {"kind": "assets", "project_id": project, "corners_by": "name"}
    response = client.put(f"/v1/imports/{record['id']}", json=body)
    assert response.status_code == 422
    assert response.json["error"]["details"][0]["field"] == "corners_by"


def swapped(shape: dict[str, Any]) -> dict[str, Any]:
    rings = [[position[::-1] for position in ring] for ring in shape["coordinates"]]
    return {"type": "Polygon", "coordinates": rings}


def test_what_fits_the_other_way_round_alone_is_swapped(client: Client) -> None:
    right = feature(square(80, 50), name="B")
    record = ready(client, feature(swapped(square(115, -2)), name="A"), right)
    (question,) = record["questions"]
    assert (question["bbox"], question["options"][0]["bbox"]) == ([80, 50] * 2, [115, -2] * 2)
    assert question["code"] == "swapped"
    assert question["options"][0]["put"] == {"swap": True}
    record = answered(client, record, swap=True)
    assert (codes(record), counts(record)) == ([], (2, 0, 0, 0))
    assert record["bbox"][:2] == [50, -2]
    assert "Latitude and longitude were swapped, as you chose." in record["notes"]


def test_what_is_next_to_projects_the_other_way_round_is_asked_about(client: Client) -> None:
    make_project(client, geometry=square(10.0, 47.0, 0.1))
    record = ready(client, feature(swapped(square(10.2, 47.0, 0.1)), name="A"))
    assert codes(record) == ["swapped"]
    (question,) = record["questions"]
    assert question["bbox"] == pytest.approx([47.0, 10.2, 47.0, 10.2])
    assert question["options"][0]["bbox"] == pytest.approx([10.2, 47.0, 10.2, 47.0])
    assert counts(record) == (1, 0, 0, 0)  # it may be meant
    act(client, record, "apply")
    near = ready(client, feature(square(10.2, 47.0, 0.1), name="B"))
    assert codes(near) == []


@pytest.mark.slow
def test_a_file_that_is_in_the_country_of_projects_the_other_way_round_alone(
    client: Client,
) -> None:
    """Anywhere in it: a second region is far from the first."""
    make_project(client, geometry=square(22.0, 46.0, 0.1))
    record = ready(client, feature(swapped(square(27.0, 47.0, 0.1)), name="A"))
    assert codes(record) == ["swapped"]
    assert record["questions"][0]["message"] == (
        "Latitude and longitude seem to be swapped: the file is in Saudi Arabia, and the other way "
        "round in Romania, where your projects are."
    )
    other = ready(client, feature(square(27.0, 47.0, 0.1), name="A"))
    assert codes(other) == []


def test_letters_say_that_nothing_is_swapped(client: Client, subtests: pytest.Subtests) -> None:
    project = make_project(client, geometry=square(22.8, 45.3))["id"]
    for header, places, asked in (
        ("lat,lon", "22.88,45.36\n22.89,45.37", True),
        ("lat,lon", "22.88 N,45.36 E\n22.89,45.37", False),
        ("no,place", "1,22.88 N 45.36 E\n2,22.89° N 45.37° E", False),
        ("lat,NS,lon,EW", "22.88,N,45.36,E\n22.89,N,45.37,E", False),
    ):
        with subtests.test(places):
            record = table(client, f"{header}\n{places}\n", kind="assets", project_id=project)
            assert ("swapped" in codes(record)) == asked


def test_what_is_asked_about_the_system_is_not_noted_as_well(client: Client) -> None:
    project = make_project(client)["id"]
    degrees, meters = "10.5,50.5\n" * 20, "500000,5100000\n" * 30
    for rows, are_asked in ((meters, True), (degrees + meters, True), (degrees, False)):
        record = table(client, f"x,y\n{rows}", kind="assets", project_id=project)
        assert codes(record) == ["crs"] * are_asked
        assert any("taken for longitude" in note for note in record["notes"]) != are_asked


def test_northing_first_is_swapped_before_it_is_transformed(client: Client) -> None:
    ring = [[52e5, 5e5], [52e5, 501e3], [5201e3, 501e3], [52e5, 5e5]]
    content = collection(feature({"type": "Polygon", "coordinates": [ring]}, name="A"))
    record = uploaded(client, content, "a.geojson", crs="EPSG:25832", swap="true")
    assert counts(record) == (1, 0, 0, 0)
    assert record["bbox"][0] == pytest.approx(9.0, abs=0.01)


def test_shapes_outside_the_area_of_their_system_are_noted(client: Client) -> None:
    ring = [[4e5, 38e5], [401e3, 38e5], [401e3, 3801e3], [4e5, 38e5]]
    content = collection(feature({"type": "Polygon", "coordinates": [ring]}, name="A"))
    record = uploaded(client, content, crs="EPSG:27700")
    assert record["notes"][0].startswith("All features lie outside the area of EPSG:27700")


def test_a_column_for_the_names_is_offered(client: Client) -> None:
    shapes = [
        feature(square(n), objectid=n, m=n / 2, pin=70 + n, kod=f"K-{n}", ha=n, k=n > 1, same="x")
        for n in range(3)
    ]
    record = ready(client, *shapes)
    (question,) = record["questions"]
    assert question["code"] == "name"
    option, *others = question["options"]
    assert [each["put"]["mapping"]["name"] for each in others] == ["pin", "k", "objectid"]
    assert option["put"] == {"mapping": {"name": "kod"}}
    assert option["label"] == "The column “kod”"
    assert (option["sample"], option["bbox"]) == ({"kod": ["K-0", "K-1", "K-2"]}, None)
    record = answered(client, record, **option["put"])
    assert codes(record) == []
    assert [one["name"] for one in features_of(client, record)] == ["K-0", "K-1", "K-2"]


def test_a_column_for_the_external_ids_is_offered_and_not_taken(client: Client) -> None:
    shapes = [feature(square(n), name=f"W{n}", owner="Ann", stand_id=f"S-{n}") for n in range(3)]
    record = ready(client, *shapes)
    assert (record["mapping"], record["match"]) == ({"name": "name", "metadata": None}, "none")
    assert record["questions"] == []
    assert {one["external_id"] for one in features_of(client, record)} == {None}
    (option,) = record["suggestions"]
    assert option["put"] == {"mapping": {"external_id": "stand_id"}, "match": "external_id"}
    assert option["sample"] == {"stand_id": ["S-0", "S-1", "S-2"]}
    record = answered(client, record, **option["put"])
    assert record["suggestions"] == []
    assert record["match"] == "external_id"
    assert [one["external_id"] for one in features_of(client, record)] == ["S-0", "S-1", "S-2"]
    act(client, record, "apply")
    assert [one["external_id"] for one in features_of(client, record)] == ["S-0", "S-1", "S-2"]
    record = ready(client, *shapes)
    assert record["counts"]["same"] == 3
    assert [one["external_id"] for one in features_of(client, record)] == ["S-0", "S-1", "S-2"]


def test_who_wants_numbers_is_not_asked_again(client: Client) -> None:
    record = ready(client, feature(square(), kod="K"), mapping=json.dumps({"name": None}))
    assert codes(record) == []
    assert answered(client, record, match="none")["questions"] == []


def test_an_open_question_ends_with_the_next_reading(client: Client) -> None:
    record = table(client, "name\nA\n")
    client.put(f"/v1/imports/{record['id']}", json={"without_boundaries": True})
    assert read(client, record["id"])["questions"] == []


def test_letters_with_two_meanings_are_asked_unless_something_tells(
    client: Client, subtests: pytest.Subtests
) -> None:
    make_project(client, geometry=square(10.0, 47.0, 0.1))
    project = make_project(client, geometry=square(-3.7, 38.8, 0.1))["id"]
    east, west = {"letters": {"O": "east"}}, {"letters": {"O": "west"}}
    band, south = {"zone_letter": "band"}, {"zone_letter": "hemisphere"}
    for text, position, note in (
        ("name;Breitengrad;Längengrad\nA;47,01° N;10,01° O", (10.01, 47.01), "headings"),
        ("nombre;lat;lon\nA;47,01 N;10,01 O", (-10.01, 47.01), "headings"),
        ("name;Koordinaten\nA;47.01 N, 10.01 O", (10.01, 47.01), "headings"),
        ("name;lat;lon\nA;47 N;10 O\nB;47 N;9 W", (-9, 47), "W as well"),
        ("name;lat;lon\nA;47,01 N;10,01 O", (10.01, 47.01), "your projects"),
        ("name,easting,northing,zone\nA,450000,4300000,30S", (-3.576, 38.847), "your projects"),
        ("name,easting,northing,zone\nA,450000,4300000,30S\nB,450000,4500000,30T",
         (-3.591, 38.847), "zones"),
        ("name,easting,northing,zone\nA,345000,6300000,19S", (-70.667, -33.428), "zones"),
    ):  # fmt: skip
        with subtests.test(text):
            record = table(client, f"{text}\n", kind="assets", project_id=project)
            assert codes(record) == []
            assert any(note in each for each in record["notes"])
            assert record["bbox"][:2] == pytest.approx(position, abs=0.001)
    for text, code, answers, positions in (
        ("name,lat,lon\nA,52.5 N,6.5 O", "letters", (east, west), ((6.5, 52.5), (-6.5, 52.5))),
        ("name,gps\nA,52.5 N 6.5 O", "letters", (east, west), ((6.5, 52.5), (-6.5, 52.5))),
        ("name,easting,northing,zone\nA,450000,4300000,11S", "zone", (band, south),
         ((-117.576, 38.847), (-117.7195, -51.449))),
        ("name,utm\nA,11S 450000 4300000", "zone", (band, south),
         ((-117.576, 38.847), (-117.7195, -51.449))),
    ):  # fmt: skip
        with subtests.test(text):
            record = table(client, f"{text}\n", kind="assets", project_id=project)
            (question,) = record["questions"]
            assert (question["code"], question["required"]) == (code, True)
            options = question["options"]
            assert [option["put"] for option in options] == list(answers)
            for option, position in zip(options, positions, strict=True):
                assert option["bbox"][:2] == pytest.approx(position, abs=0.001)
            assert refused(client, record) == ("unanswered", code)
            for answer, position in zip(answers, positions, strict=True):
                record = answered(client, record, **answer)
                assert (codes(record), record["bbox"][:2]) == (
                    [], pytest.approx(position, abs=0.001),
                )  # fmt: skip
                assert {name: record[name] for name in answer} == answer
            assert codes(answered(client, record, **dict.fromkeys(answer))) == [code]
            assert codes(table(client, text, kind="assets", project_id=project, **answer)) == []
    for wrong in ({"letters": {"S": "east"}}, {"letters": {"O": "up"}}, {"zone_letter": "N"}):
        assert client.put(f"/v1/imports/{record['id']}", json=wrong).status_code == 422


def test_one_of_two_places_is_taken_and_told(client: Client, subtests: pytest.Subtests) -> None:
    project = make_project(client, geometry=square(10.0, 47.0, 0.1))["id"]
    wkt = "POINT (10.5 47.5)", "POINT (30 20)"
    lat_lon = {"latitude": "lat", "longitude": "lon"}
    for text, taken, others, position in (
        ("name,_home_latitude,_home_longitude,_plot_latitude,_plot_longitude\nA,7.5,8.5,47.0,10.0",
         {"latitude": "_plot_latitude", "longitude": "_plot_longitude"},
         [{"latitude": "_home_latitude", "longitude": "_home_longitude"}], (10, 47)),
        ("name,lat,lon,latitude,longitude\nA,47.0,10.0,7.5,8.5", lat_lon,
         [{"latitude": "latitude", "longitude": "longitude"}], (10, 47)),
        (f"name,a,b\nA,{wkt[1]},{wkt[0]}", {"geometry": "b"}, [{"geometry": "a"}], (10.5, 47.5)),
        ('name,home,plot\nA,"7.5 8.5 0 5","47.0 10.0 0 5"', {"geometry": "plot"},
         [{"geometry": "home"}], (10, 47)),
        ('name,at,_at_latitude,_at_longitude\nA,"47.0 10.0 0 5",7.5,8.5', {"geometry": "at"},
         [{"latitude": "_at_latitude", "longitude": "_at_longitude"}], (10, 47)),
        # The same place twice is no question.
        ('name,at,_at_latitude,_at_longitude\nA,"47.0 10.0 0 5",47.0,10.0', {"geometry": "at"}, [],
         (10, 47)),
        ("name,lat,lon,latitude,longitude\nA,47.0,10.0,47.0,10.0", lat_lon, [], (10, 47)),
    ):  # fmt: skip
        with subtests.test(text):
            record = table(client, f"{text}\n", kind="assets", project_id=project)
            assert {name: record["mapping"].get(name) for name in taken} == taken
            assert record["bbox"][:2] == pytest.approx(position)
            assert ["The places are those of" in each for each in record["notes"]].count(
                True
            ) == bool(others)
            assert codes(record) == ["geometry"] * bool(others)
            if others:
                (question,) = record["questions"]
                puts = [option["put"]["mapping"] for option in question["options"]]
                assert sorted(puts, key=str) == sorted([taken, *others], key=str)
                assert question["required"] is False
                record = answered(client, record, mapping=others[0])
                assert codes(record) == []
                assert record["bbox"][:2] != pytest.approx(position)
                assert {name: record["mapping"][name] for name in others[0]} == others[0]


def test_columns_that_were_found_are_named_and_zero_is_noted(client: Client) -> None:
    record = table(client, 'name,umriss\nA,"POLYGON((10 47,10.01 47,10.01 47.01,10 47))"\n')
    assert record["mapping"]["geometry"] == "umriss"
    assert "found" not in record["layers"][0]
    project = make_project(client)["id"]
    text = "name,lat,lon\nNoFix,0,0\nFix,47.01,10.01\n"
    record = table(client, text, kind="assets", project_id=project)
    assert "1 feature is at 0, 0" in "".join(record["notes"])
    assert counts(record) == (2, 0, 0, 0)
