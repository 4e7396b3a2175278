"""Geometries of KML placemarks, and the text of their coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.formats.readers.kml import KmlReader
from app.policy.request_limits import GEOMETRY_POSITIONS
from tests.formats.readers.reading import features, geometry_of, only_feature, problem_of

RING = "0,0 1,0 1,1 0,0"
HOLE = ".2,.1 .4,.1 .4,.2 .2,.1"


def kml(folder: Path, geometry: str) -> Path:
    path = folder / "upload"
    path.write_text(f"<kml><Placemark>{geometry}</Placemark></kml>")
    return path


def point(text: str = "1,2") -> str:
    return f"<Point><coordinates>{text}</coordinates></Point>"


def line(text: str) -> str:
    return f"<LineString><coordinates>{text}</coordinates></LineString>"


def ring(text: str) -> str:
    return f"<LinearRing><coordinates>{text}</coordinates></LinearRing>"


def polygon(*rings: str) -> str:
    exterior, *holes = map(ring, rings)
    inner = "".join(f"<innerBoundaryIs>{hole}</innerBoundaryIs>" for hole in holes)
    return f"<Polygon><outerBoundaryIs>{exterior}</outerBoundaryIs>{inner}</Polygon>"


def multi(*geometries: str) -> str:
    return f"<MultiGeometry>{''.join(geometries)}</MultiGeometry>"


def geometry(folder: Path, written: str) -> Any:
    return geometry_of(KmlReader, kml(folder, written))


def positions(folder: Path, text: str) -> Any:
    return geometry(folder, line(text))["coordinates"]


def problem(folder: Path, written: str) -> tuple[str, str]:
    return problem_of(KmlReader, kml(folder, written))


def test_a_polygon_with_holes(tmp_path: Path) -> None:
    assert geometry(tmp_path, polygon(RING, HOLE)) == {
        "type": "Polygon",
        "coordinates": [
            [[0, 0], [1, 0], [1, 1], [0, 0]],
            [[0.2, 0.1], [0.4, 0.1], [0.4, 0.2], [0.2, 0.1]],
        ],
    }


def test_polygons_are_a_multipolygon_however_deep_they_are(tmp_path: Path) -> None:
    found = geometry(tmp_path, multi(polygon(RING), multi(multi(polygon(RING, HOLE)))))
    assert found["type"] == "MultiPolygon"
    assert [len(part) for part in found["coordinates"]] == [1, 2]


def test_other_types(tmp_path: Path) -> None:
    for written, kind, coordinates in (
        (line("1,2 3,4"), "LineString", [[1, 2], [3, 4]]),
        (ring("1,2 3,4"), "LineString", [[1, 2], [3, 4]]),
        (multi(point(), point("3,4")), "MultiPoint", [[1, 2], [3, 4]]),
        (point() + point("3,4"), "MultiPoint", [[1, 2], [3, 4]]),
        (multi(line("1,2 3,4"), line("5,6")), "MultiLineString", [[[1, 2], [3, 4]], [[5, 6]]]),
    ):
        assert geometry(tmp_path, written) == {"type": kind, "coordinates": coordinates}, written


def test_elements_that_are_not_of_kml(tmp_path: Path) -> None:
    location = "<Location><longitude>1</longitude><latitude>2</latitude></Location>"
    model = "Of a Model, a building or the like in space, only the location was read."
    area = geometry(tmp_path, multi(polygon(RING), polygon(RING)))
    for written, found, notes in (
        (multi(polygon(RING) * 2).replace("MultiGeometry", "MultiPolygon"), area, []),
        (f"<Model>{location}<Link/></Model>", {"type": "Point", "coordinates": [1, 2]}, [model]),
        (f"<Circle>{location}</Circle><Style/><open>1</open>", None,
         ["Elements <Circle> of placemarks were left out."]),
    ):  # fmt: skip
        reader = KmlReader(kml(tmp_path, written))
        assert (features(reader)[0].geometry, reader.notes) == (found, notes), written


def test_rings_without_an_element_around_them(tmp_path: Path) -> None:
    whole, inner = polygon(RING, HOLE), f"<innerBoundaryIs>{ring(HOLE)}</innerBoundaryIs>"
    bare = f"<coordinates>{RING}</coordinates>"
    for written in (
        f"<Polygon><outerBoundaryIs>{bare}</outerBoundaryIs>{inner}</Polygon>",
        f"<Polygon>{ring(RING)}{inner}</Polygon>",
        f"<Polygon>{bare}{inner}</Polygon>",
    ):
        assert geometry(tmp_path, written) == geometry(tmp_path, whole), written


def test_different_types_are_a_collection(tmp_path: Path) -> None:
    found = geometry(tmp_path, multi(point(), polygon(RING)))
    assert found["type"] == "GeometryCollection"
    assert [one["type"] for one in found["geometries"]] == ["Point", "Polygon"]


def test_what_is_empty_is_no_geometry(tmp_path: Path) -> None:
    for written in (
        "",
        point(""),
        multi(),
        polygon(""),
        polygon(" \n", ""),
        "<Polygon/>",
        "<Model/>",
    ):
        assert geometry(tmp_path, written) is None, written


def test_empty_members_are_left_out(tmp_path: Path) -> None:
    found = geometry(tmp_path, multi(polygon(""), polygon(RING, ""), point("")))
    assert found == {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


def test_a_track(tmp_path: Path) -> None:
    track = (
        "<gx:Track><altitudeMode>x</altitudeMode><when>2024</when><gx:coord>1 2 30</gx:coord>"
        "<gx:coord/><when>2025</when><gx:coord> 3\t4 </gx:coord></gx:Track>"
    )
    reader = KmlReader(kml(tmp_path, track))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}
    times = "Times and other values of the points of tracks were left out."
    assert reader.notes == ["Heights were left out.", times]
    several = f"<gx:MultiTrack><gx:interpolate>0</gx:interpolate>{track}{track}</gx:MultiTrack>"
    assert geometry(tmp_path, several)["type"] == "MultiLineString"
    assert problem(tmp_path, "<Track><coord>1 2</coord><coord>3</coord></Track>") == (
        "wrong_position",
        "Position 1 has 1 numbers; it must be longitude,latitude or with a height.",
    )


def test_ways_to_write_coordinates(tmp_path: Path) -> None:
    for text in (
        "1,2 3,4",
        "\n\t\t1,2,0\r\n\t\t3,4,0\n",
        "1,2,0,\n3,4,0,\n",
        ",1,2 ,3,4",
        "1,2, 3,4",
        "1, 2 3, 4",
        "1, 2, 0 3, 4, 0",
        "1 , 2 , 0 3 , 4 , 0",
        "1,2,0,3,4,0",
        "1, 2, 0.0, 3, 4, -0",
        "+1,2. 3e0,0.4E1",
        "1,2,\n3,4",
        "\u00a01,2\u20033,4",
    ):
        assert positions(tmp_path, text) == [[1, 2], [3, 4]], text


def test_coordinates_that_mean_nothing_or_two_things(tmp_path: Path) -> None:
    for text, code, position in (
        ("1,2 3", "wrong_position", 1),
        ("1 2", "wrong_position", 0),
        ("1,2,3,4", "wrong_position", 0),
        ("1,2,3,4,5,6", "wrong_position", 0),  # three positions, or two with heights
        ("1,2,0,3,4,0 5,6", "wrong_position", 0),
        ("1,2 3,x", "not_a_number", 1),
        ("1,2 48/30,31/00", "not_a_number", 1),
        ("1,2 nan,3", "not_a_number", 1),
        ("1,2 3,inf", "not_a_number", 1),
        ("1,2 3,1e999", "not_a_number", 1),
        ("1,2 3,1_0", "not_a_number", 1),
        ("1,2 3,,0", "not_a_number", 1),
        ("1;2", "wrong_position", 0),
    ):
        (found,) = only_feature(KmlReader, kml(tmp_path, line(text))).problems
        assert (found.code, found.part, found.ring, found.position) == (
            code,
            None,
            None,
            position,
        ), text


def test_a_problem_names_part_ring_and_position(tmp_path: Path) -> None:
    written = multi(polygon(RING), polygon(RING, HOLE.replace(".4,.2", "4,north")))
    (found,) = only_feature(KmlReader, kml(tmp_path, written)).problems
    assert (found.part, found.ring, found.position) == (1, 1, 2)
    assert found.message == (
        'Part 1, ring 1, position 2 has a latitude that is not a number: "north".'
    )
    assert found.field == "geometry.coordinates"


def test_other_problems(tmp_path: Path) -> None:
    for written, code in (
        (point("1,2 3,4"), "wrong_nesting"),
        (polygon("", HOLE), "empty"),
        (polygon(RING).replace("</outer", f"{ring(RING)}</outer"), "wrong_nesting"),
    ):
        assert problem(tmp_path, written)[0] == code, written


def test_heights_are_left_out_with_a_note(tmp_path: Path) -> None:
    reader = KmlReader(kml(tmp_path, line("1,2,0.00 3,4,-0")))
    features(reader)
    assert reader.notes == []
    reader = KmlReader(kml(tmp_path, polygon("0,0,1 1,0,1 1,1,1 0,0,1")))
    assert features(reader)[0].geometry == geometry(tmp_path, polygon(RING))
    assert reader.notes == ["Heights were left out."]


@pytest.mark.slow
def test_too_many_positions_are_a_problem(tmp_path: Path) -> None:
    for text in (" ".join(["1,2"] * (GEOMETRY_POSITIONS + 1)), "1,2," * 2 * GEOMETRY_POSITIONS):
        assert problem(tmp_path, line(text))[0] == "too_many_positions"
