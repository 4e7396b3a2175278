"""Files with all that their format can hold: each value is in a property, or a note tells of it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import shapely

from app.formats.readers.opening import open_file
from tests.formats.readers.gdal import write, zipped
from tests.formats.readers.geopackages import one_square

RING = "10,47,5 10.1,47,5 10.1,47.1,5 10,47,5"


def _geojson(folder: Path) -> Path:
    ring = [[10, 47, 5], [10.1, 47, 5], [10.1, 47.1, 5], [10, 47, 5]]
    feature = {
        "type": "Feature", "id": "of-the-feature", "bbox": [10, 47, 10.1, 47.1],
        "geometry": {"type": "Polygon", "coordinates": [ring], "of-the-geometry": 1},
        "properties": {"text": "a text", "number": 4.75, "list": ["in a list"], "n": {"k": "deep"}},
        "style": {"fill": "red"},
    }  # fmt: skip
    path = folder / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature], "by": "Ada"}))
    return path


def _kml(folder: Path) -> Path:
    path = folder / "a.kml"
    path.write_text(
        '<kml xmlns="http://www.opengis.net/kml/2.2"><Document><description>all</description>'
        "<NetworkLink><Link><href>b.kml</href></Link></NetworkLink><GroundOverlay/>"
        '<Schema name="s" id="s"><SimpleField type="int" name="trees"/></Schema>'
        "<Placemark><name>a name</name><description>words &lt;img src='a.png'/&gt;</description>"
        "<address>a street</address><phoneNumber>0123</phoneNumber><Snippet>short</Snippet>"
        "<atom:author xmlns:atom='a'>Ada</atom:author><Metadata>m</Metadata>"
        "<TimeSpan><begin>2024-01</begin><end>2025-01</end></TimeSpan>"
        "<ExtendedData><Data name='d'><value>of data</value></Data>"
        "<SchemaData schemaUrl='#s'><SimpleData name='trees'>4711</SimpleData></SchemaData>"
        "</ExtendedData><Polygon><outerBoundaryIs><LinearRing>"
        f"<coordinates>{RING}</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>"
        "<Placemark><Track><when>2024</when><coord>1 2 3</coord><coord>2 2 3</coord></Track>"
        "</Placemark></Document></kml>"
    )
    return path


def _gpx(folder: Path) -> Path:
    path = folder / "a.gpx"
    values = ("name", "cmt", "desc", "src", "type")
    track = "".join(f"<{name}>a {name}</{name}>" for name in values)
    path.write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><metadata><keywords>k</keywords></metadata>'
        f"<trk>{track}<number>4711</number><link href='a.jpg'><text>a text</text></link>"
        "<extensions><o:color>red</o:color></extensions><trkseg>"
        "<trkpt lat='47' lon='10'><ele>5</ele><hdop>2</hdop></trkpt><trkpt lat='47' lon='11'/>"
        "</trkseg></trk></gpx>"
    )
    return path


def _geopackage(folder: Path) -> Path:
    return one_square(
        folder,
        "ALTER TABLE forests ADD COLUMN photo BLOB",
        "ALTER TABLE forests ADD COLUMN twice INTEGER AS (2 * fid)",
        "ALTER TABLE forests ADD COLUMN day DATE",
        "ALTER TABLE forests ADD COLUMN seen DATETIME",
        "ALTER TABLE forests ADD COLUMN wet BOOLEAN",
        "UPDATE forests SET photo = x'00', day = '2026-01-02', seen = '2026-01-02T03:04:05Z',"
        " wet = 1, name = 'a name'",
        "CREATE TABLE list(a)",
        "INSERT INTO gpkg_contents(table_name, data_type, identifier) VALUES "
        "('list', 'attributes', 'w')",
    )


def _shapefile(folder: Path) -> Path:
    of_shapes = folder / "a"
    of_shapes.mkdir()
    write(
        of_shapes / "a.shp",
        "ESRI Shapefile",
        [shapely.Polygon([(10, 47, 5), (10.1, 47, 5), (10.1, 47.1, 5)])],
        columns={"text": ["a text"], "number": [4.75], "count": [4711], "wet": [True]},
        geometry_type="Polygon Z",
    )
    path = zipped(of_shapes)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("photo.jpg", b"")
    return path


def _csv(folder: Path) -> Path:
    path = folder / "a.csv"
    path.write_text(f'name,number,wkt,empty\na name,4.75,"POLYGON Z(({_wkt()}))",\n')
    return path


def _wkt() -> str:
    return ", ".join(position.replace(",", " ") for position in RING.split())


# The file; what is in its properties; and words of notes on the others.
CASES: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "geojson": (_geojson, "of-the-feature|a text|4.75|in a list|deep", '"style"|"by"'),
    "kml": (
        _kml,
        "a name|words|a street|0123|short|2024-01|2025-01|of data|4711",
        "Heights|Pictures|NetworkLink|overlays|<author>|<Metadata>|of folders|points of tracks",
    ),
    "gpx": (
        _gpx,
        "a name|a cmt|a desc|a src|a type|4711|a.jpg|a text|red",
        "Heights, times and other values of the points|about itself",
    ),
    "gpkg": (
        _geopackage,
        "a name|2026-01-02|2026-01-02T03:04:05Z|true",
        'binary|computed|"list"',
    ),
    "shp": (_shapefile, "a text|4.75|4711|true", "Heights|photo.jpg"),
    "csv": (_csv, "a name|4.75", "Heights"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*field name")
def test_each_value_is_a_property_or_told(name: str, tmp_path: Path) -> None:
    make, values, words = CASES[name]
    with closing(open_file(make(tmp_path))) as reader:
        found = [each.properties for layer in reader.layers for each in reader.read_features(layer)]
        notes = "\n".join(reader.notes)
    text = json.dumps(found, ensure_ascii=False)
    assert [value for value in values.split("|") if value not in text] == []
    assert [word for word in words.split("|") if word.casefold() not in notes.casefold()] == []
