"""GPX as devices and programs write it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from app.formats.features import Layer
from app.formats.readers.gpx import GpxReader
from tests.formats.readers.reading import features, geometry_of, problem_of, refusal
from tests.processor_time import is_within


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
        ("tracks, routes and waypoints", 3, ("name",)),
    ]


def test_a_waypoint_of_garmin(tmp_path: Path) -> None:
    """Everything that a waypoint can have, by the names of GDAL."""
    texts = {
        "ele": 312.4, "time": "2024-05-01T08:00:00Z", "magvar": 3.5, "geoidheight": 47.1,
        "name": "007", "cmt": "c", "desc": "d", "src": "GPSMAP", "sym": "Flag, Blue",
        "type": "user", "fix": "3d", "sat": 9, "hdop": 1.2, "vdop": 2.0, "pdop": 2.3,
        "ageofdgpsdata": 5.0, "dgpsid": 12,
    }  # fmt: skip
    content = (
        '<wpt lat="43.512345678" lon="10.5">'
        + "".join(f"<{name}>{text}</{name}>" for name, text in texts.items())
        + "<link href='oak.jpg'><text>l</text><type>image/jpeg</type></link><link href='y'/>"
        '<extensions><gpxx:WaypointExtension x:version="2"><gpxx:Proximity>25</gpxx:Proximity>'
        "<gpxx:Categories><gpxx:Category>A</gpxx:Category><gpxx:Category>B</gpxx:Category>"
        "</gpxx:Categories></gpxx:WaypointExtension><o:color>red</o:color><wpt>7</wpt></extensions>"
        "</wpt>"
    )
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "Point", "coordinates": [10.5, 43.512345678]}
    assert feature.properties == texts | {
        "link1_href": "oak.jpg", "link1_text": "l", "link1_type": "image/jpeg", "link2_href": "y",
        "gpxx_WaypointExtension_version": "2", "gpxx_Proximity": "25", "gpxx_Category": "A",
        "gpxx_Category (2)": "B", "o_color": "red", "wpt": "7",
    }  # fmt: skip
    assert set(reader.layers[0].columns) == set(feature.properties)
    assert reader.notes == []


def test_the_link_of_gpx_1_0_and_what_the_file_says_of_itself(tmp_path: Path) -> None:
    content = (
        "<metadata><desc>d</desc></metadata><author>Ada</author>"
        "<wpt lat='1' lon='2'><url>x</url><urlname>y</urlname></wpt>"
    )
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    assert feature.properties == {"link1_href": "x", "link1_text": "y"}
    assert reader.notes == ["What the GPX file says about itself as a whole was left out."]


def test_a_track_of_osmand(tmp_path: Path) -> None:
    points = "".join(
        f'<trkpt lat="{n}" lon="{-n}"><ele>1</ele><hdop>2</hdop><extensions><osmand:speed>1'
        "</osmand:speed></extensions></trkpt>"
        for n in range(3)
    )
    content = (
        "<trk><name>2024-05-01</name><number>3</number>"
        f"<extensions><osmand:width>3</osmand:width></extensions><trkseg>{points}</trkseg></trk>"
    )
    reader = GpxReader(gpx(tmp_path, content))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "LineString", "coordinates": [[0, 0], [-1, 1], [-2, 2]]}
    assert feature.properties == {"name": "2024-05-01", "number": 3, "osmand_width": "3"}
    (note,) = reader.notes
    assert note == "Heights, times and other values of the points of tracks were left out."


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


def test_many_extensions_of_one_name_are_refused_soon(tmp_path: Path) -> None:
    """Numbering all of them would take the square of their number."""
    many = "<o:a>1</o:a>" * 50_000
    path = gpx(tmp_path, f"<wpt lat='1' lon='2'><extensions>{many}</extensions></wpt>")
    began = time.thread_time()
    assert "columns" in refusal(GpxReader, path)
    assert is_within(time.thread_time() - began, 1)
