"""GPX as devices and programs write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.formats.features import Layer
from app.formats.readers.gpx import GpxReader
from tests.formats.readers.reading import features, geometry_of, problem_of, refusal


def gpx(folder: Path, content: str, attributes: str = 'version="1.1" creator="x"') -> Path:
    path = folder / "upload"
    path.write_text(
        f'<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" {attributes}>'
        f"<metadata><name>Tour</name><time>2024-01-01T00:00:00Z</time></metadata>{content}</gpx>"
    )
    return path


def point(longitude: float, latitude: float, name: str = "trkpt") -> str:
    return f'<{name} lat="{latitude}" lon="{longitude}"><ele>312</ele><time>x</time></{name}>'


def segment(*points: str) -> str:
    return f"<trkseg>{''.join(points)}</trkseg>"


LINE = segment(point(1, 2), point(3, 4))


def test_layers_are_what_there_is(tmp_path: Path) -> None:
    waypoint = '<wpt lat="43.5" lon="10.5"><name>Oak</name></wpt>'
    track = f"<trk><name>T</name>{LINE}</trk>"
    assert GpxReader(gpx(tmp_path, waypoint * 2)).layers == (Layer("waypoints", 2, ("name",)),)
    reader = GpxReader(gpx(tmp_path, f"{track}{waypoint}<rte>{point(1, 2, 'rtept')}</rte>"))
    assert [(one.name, one.features, one.columns) for one in reader.layers] == [
        ("waypoints", 1, ("name",)),
        ("routes", 1, ()),
        ("tracks", 1, ("name",)),
    ]


def test_a_waypoint_of_garmin(tmp_path: Path) -> None:
    content = (
        '<wpt lat="43.512345678" lon="10.5"><ele>312.4</ele><time>2024-05-01T08:00:00Z</time>'
        "<name>007</name><cmt>c</cmt><desc>d</desc><link href='x'><text>l</text></link>"
        "<sym>Flag, Blue</sym><type>user</type><extensions><gpxx:WaypointExtension><gpxx:name>no"
        "</gpxx:name></gpxx:WaypointExtension></extensions></wpt>"
    )
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "Point", "coordinates": [10.5, 43.512345678]}
    assert feature.properties == {
        "name": "007",
        "desc": "d",
        "cmt": "c",
        "sym": "Flag, Blue",
        "type": "user",
        "ele": 312.4,
        "time": "2024-05-01T08:00:00Z",
    }
    assert reader.layers[0].columns == tuple(feature.properties)
    assert reader.notes == []


def test_a_track_of_osmand(tmp_path: Path) -> None:
    points = "".join(
        f'<trkpt lat="{n}" lon="{-n}"><ele>1</ele><hdop>2</hdop><extensions><osmand:speed>1'
        "</osmand:speed></extensions></trkpt>"
        for n in range(3)
    )
    content = (
        f"<trk><name>2024-05-01</name><number>3</number><trkseg>{points}</trkseg></trk>"
        "<extensions><osmand:width>3</osmand:width></extensions>"
    )
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "LineString", "coordinates": [[0, 0], [-1, 1], [-2, 2]]}
    assert feature.properties == {"name": "2024-05-01", "number": 3}
    (note,) = reader.notes
    assert note == "Heights and times of track points were ignored."


def test_a_track_of_several_segments(tmp_path: Path) -> None:
    content = f"<trk>{LINE}{segment()}{segment(point(9, 9))}{LINE}</trk>"
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    line = [[1, 2], [3, 4]]
    assert feature.geometry == {"type": "MultiLineString", "coordinates": [line, line]}
    assert "a single point were left out" in reader.notes[-1]


def test_a_route(tmp_path: Path) -> None:
    content = f"<rte><name>R</name>{point(1, 2, 'rtept')}{point(3, 4, 'rtept')}</rte>"
    assert geometry_of(GpxReader, gpx(tmp_path, content)) == {
        "type": "LineString",
        "coordinates": [[1, 2], [3, 4]],
    }


def test_a_track_without_points_has_no_geometry(tmp_path: Path) -> None:
    for content in ("<trk/>", "<trk><trkseg/></trk>", "<rte><name>x</name></rte>"):
        assert geometry_of(GpxReader, gpx(tmp_path, content)) is None, content


def test_a_point_that_cannot_be_read(tmp_path: Path) -> None:
    for content, code, message in (
        ('<wpt lat="1"/>', "wrong_position", "`coordinates` has no longitude."),
        (
            '<wpt lat="north" lon="1"/>',
            "not_a_number",
            '`coordinates` has a latitude that is not a number: "north".',
        ),
        (
            f'<trk>{LINE}<trkseg>{point(1, 2)}<trkpt lat="1,5" lon="1"/></trkseg></trk>',
            "not_a_number",
            'Part 1, position 1 has a latitude that is not a number: "1,5".',
        ),
    ):
        assert problem_of(GpxReader, gpx(tmp_path, content)) == (code, message), content


def test_too_many_positions_are_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.formats.readers.gpx.GEOMETRY_POSITIONS", 100)
    points = '<trkpt lat="1" lon="2"/>' * 101
    assert problem_of(GpxReader, gpx(tmp_path, f"<trk>{segment(points)}</trk>"))[0] == (
        "too_many_positions"
    )


def test_a_file_without_features_is_refused(tmp_path: Path) -> None:
    assert "no waypoints, routes or tracks" in refusal(GpxReader, gpx(tmp_path, ""))


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    assert "Line 2 of the XML" in refusal(GpxReader, gpx(tmp_path, "<wpt lat='1' lon='2'/>\n</x>"))
