"""Formats are known by the content of files, whatever their names say."""

from __future__ import annotations

import json
import random
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from app.formats.features import FileInvalid
from app.formats.readers.csv_file import CsvReader
from app.formats.readers.gpx import GpxReader
from app.formats.readers.kml import KmlReader
from app.formats.readers.opening import open_file, recognize_format
from app.policy.files import FORMATS_IN
from tests.formats.readers.gdal import NAMES, write
from tests.formats.readers.gdal import zipped as zipped_folder
from tests.formats.readers.reading import features

KML = "<kml><Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></kml>"
GPX = '<gpx version="1.1"><wpt lat="1" lon="2"/></gpx>'
FEATURE = '{"type":"Feature","geometry":null,"properties":{"type":"x"}}'


def written(folder: Path, content: str | bytes, name: str = "upload") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(folder: Path, *names: str, content: str = KML) -> Path:
    path = folder / "upload"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("driver", "name", "expected"),
    [
        ("GeoJSON", "upload.kml", "geojson"),
        ("GeoJSONSeq", "upload.csv", "geojsonl"),
        ("GPKG", "upload.gpkg", "gpkg"),
        ("ESRI Shapefile", "districts.shp", "shp"),
    ],
)
def test_files_of_gdal(tmp_path: Path, driver: str, name: str, expected: str) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    path = write(folder / name, driver)
    with closing(open_file(zipped_folder(folder) if expected == "shp" else path)) as reader:
        assert reader.format == expected
        assert [one.properties["name"] for one in features(reader)] == NAMES


def test_text_formats(tmp_path: Path) -> None:
    for content, expected in (
        (KML, "kml"),
        (f'\n\n<?xml version="1.0"?>\n<!-- x -->\n{KML}', "kml"),
        ('<?xml version="1.0" encoding="UTF-8"?><k:kml xmlns:k="x"/>', "kml"),
        (f"\ufeff{KML}", "kml"),
        (KML.encode("utf-16"), "kml"),
        (KML.encode("utf-16-be"), "kml"),
        (f'<?xml version="1.0" encoding="utf-16"?>{KML}', "kml"),
        (f"<!--{'x' * 100_000}-->{KML}", "kml"),
        ("<kml><broken", "kml"),
        (GPX, "gpx"),
        ('{"type":"FeatureCollection","features":[]}', "geojson"),
        (f"\ufeff \n{json.dumps(json.loads(FEATURE), indent=1)}", "geojson"),
        (FEATURE, "geojson"),
        ('[{"type":"Feature"}]', "geojson"),
        (f'{{"type":"FeatureCollection","features":[{FEATURE}]}}\n', "geojson"),
        (f"{FEATURE}\n{FEATURE}\n", "geojsonl"),
        (f"\x1e{FEATURE}\n", "geojsonl"),
        ("a,b\n1,2\n", "csv"),
        ("name;größe\nx;1\n".encode("cp1252"), "csv"),
        ("a\tb\n1\t2\n".encode("utf-16"), "csv"),
        ("PK;name\n1;2\n", "csv"),
        ("wkt\nPOINT (1 2)\n", "csv"),
        ("lat,lon,note\n1,2,\n3,4,<kml>\n", "csv"),
        ("a,b", "csv"),
        ("[id],[name]\n1,2\n", "csv"),
        ("TIN,Triangle\n1,2\n", "csv"),
        ("activity.FIT,b\n1,2\n", "csv"),
    ):
        assert recognize_format(written(tmp_path, content)) == expected, content
        assert expected in FORMATS_IN, content


def test_zip_files(tmp_path: Path) -> None:
    for names, expected in (
        (["doc.kml"], "kmz"),
        (["files/Doc.KML", "files/a.png"], "kmz"),
        (["a.shp", "a.dbf"], "shp"),
        (["x/A.SHP", "x/A.DBF", "notes.kml"], "shp"),
    ):
        assert recognize_format(zipped(tmp_path, *names)) == expected, names


def test_a_geopackage(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "upload")) as database:
        database.execute("CREATE TABLE a (b)")
    assert recognize_format(tmp_path / "upload") == "gpkg"


def test_a_file_is_opened_whatever_its_name(tmp_path: Path) -> None:
    for content, reader in (
        (KML, KmlReader),
        (GPX, GpxReader),
        ("lat,lon\n1,2\n", CsvReader),
    ):
        for name in ("upload.shp", "upload.zip", "../x.vrt".replace("/", "_")):
            with closing(open_file(written(tmp_path, content, name))) as opened:
                assert type(opened) is reader


VRT = (
    '<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>/etc/passwd</SrcDataSource>'
    "</OGRVRTLayer></OGRVRTDataSource>"
)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content, message in (
        ("", "The file is empty."),
        (
            b"\0\0\x27\x0a" + bytes(100),
            "shapefile, and cannot be imported.",
        ),
        (b"\x03\x7a\x05\x1f" + bytes(60), "a .dbf file"),
        ('PROJCS["ETRS89 / UTM zone 32N",GEOGCS["ETRS89"]]', "a .prj file"),
        (b"fgb\x03fgb\x00", "FlatGeobuf"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07\x00", "RAR"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "before 2007"),
        ("  0\r\nSECTION\r\n  2\r\nHEADER\r\n", "DXF"),
        ("999\r\nmade by x\r\n0\r\nSECTION\r\n", "DXF"),
        (b"AC1032\0\0", "DWG"),
        ('Version   300\nCharset "WindowsLatin1"\n', "MIF"),
        ('VERSION 300\nDELIMITER ","\nCoordSys Earth\n', "MIF"),
        ("!table\n!version 300\n", "TAB"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"\xff\xd8\xff\xe0", "image"),
        (b"II*\0", "TIFF"),
        (bytes(257) + b"ustar\x0000", "tar"),
        (b"\x0e\x10\x5e\x00\x00\x00\x00\x00.FIT", "FIT"),
        ("{\\rtf1\\ansi", "RTF"),
        ("<!DOCTYPE html><html><body>Sign in</body></html>", "an HTML page"),
        ("<html><br>&nbsp;</html>", "an HTML page"),
        ('<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html/>', "an HTML page"),
        ('<wfs:FeatureCollection xmlns:gml="x"><a>', "a GML file"),
        ('<x:Plots xmlns:gml="http://www.opengis.net/gml/3.2"/>', "a GML file"),
        (VRT, "a VRT file"),
        ("<qgis projectname='x'/>", "a QGIS project"),
        ("<osm version='0.6'/>", "OpenStreetMap"),
        ("<TrainingCenterDatabase/>", "TCX"),
        ('{"type":"Topology","objects":{}}', "TopoJSON"),
        ('{"displayFieldName":"","geometryType":"esriGeometryPolygon"}', "Esri JSON"),
        ('{"features":[{"attributes":{},"geometry":{"rings":[[[10,47]]]}}]}', "Esri JSON"),
        ('{"spatialReference":{"wkid":4326},"features":[{"geometry":{"x":1,"y":2}}]}', "Esri JSON"),
        ("POLYGON ((0 0, 1 0, 1 1, 0 0))\n", "a geometry as text and no header"),
        ("SRID=4326;POINT (1 2)", "a geometry as text and no header"),
        (f"{b'0101000000'.decode()}{'00' * 16}", "a geometry as text and no header"),
        ("<other/>", "The format of the file is not known. GeoJSON, GeoJSON text sequence, KML"),
        ("Dear Sir,\nI send you,\nas agreed, the plots.\nYours\n", "is not known"),
        ("name\nA\nB\n", "is not known"),
        ("a,b\n1,2,3\n4,5,6\n", "is not known. GeoJSON"),
        ("a,b\n1,2,3\n4,5,6\n", "another number of fields than the first"),
        ('"\n' * 10, "is not known"),
        (b"\x01\x02\0\x03", "is not known"),
        ("\n\n \n", "is not known"),
        ("<kml", "Line 1 of the XML"),
        (f"<!DOCTYPE kml>{KML}", "(DOCTYPE), which can define entities, is not accepted"),
    ):
        with pytest.raises(FileInvalid) as refused:
            recognize_format(written(tmp_path, content))
        assert message in str(refused.value), content


def test_other_zip_files_are_refused(tmp_path: Path) -> None:
    for names, message in (
        (["[Content_Types].xml", "xl/workbook.xml"], "an Excel file"),
        (["word/document.xml"], "a Word file"),
        (["mimetype", "content.xml"], "OpenDocument"),
        (["a.gdb/a00000001.gdbtable"], "file geodatabase"),
        (["a.qgs"], "QGIS project"),
        (["a.geojson"], "Unpack it"),
        (["a.dbf", "a.prj"], "lacks its .shp"),
        (["a.gml"], "Convert it"),
        (["a.txt"], "neither a shapefile"),
        ([], "neither a shapefile"),
        (["../a.shp"], "leads out of it"),
    ):
        with pytest.raises(FileInvalid) as refused:
            recognize_format(zipped(tmp_path, *names))
        assert message in str(refused.value), names


@pytest.mark.slow
def test_a_damaged_file_is_refused_or_read_whole(tmp_path: Path) -> None:
    """Whatever byte is wrong, nothing but FileInvalid is raised."""
    chosen = random.Random(5)
    csv = "name;wkt\nA;POLYGON ((0 0,1 0,1 1,0 0))\nB;SRID=25832;POINT (500000 5000000)\n"
    path = tmp_path / "upload"
    for content in (KML, GPX, csv, csv.encode("utf-16").decode("latin-1")):
        for _ in range(60):
            damaged = bytearray(content.encode("latin-1"))
            for _ in range(chosen.randint(1, 4)):
                damaged[chosen.randrange(len(damaged))] = chosen.randrange(256)
            path.write_bytes(damaged)
            try:
                format_in = recognize_format(path)
                if format_in in ("kml", "gpx", "csv"):
                    with closing(open_file(path)) as reader:
                        for layer in reader.layers:
                            list(reader.read_features(layer))
            except FileInvalid:
                continue
