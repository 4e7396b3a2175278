"""Files that want more read than what is in them: with most of these GDAL reads a local file, or
fetches a URL."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from app.formats.features import FileInvalid, FormatReader
from app.formats.readers.geojson import GeoJsonReader
from app.formats.readers.geopackage import GeoPackageReader
from app.formats.readers.opening import open_file
from app.formats.readers.shapefile import ShapefileReader
from tests.formats.readers.geopackages import one_square
from tests.formats.readers.shapefiles import SQUARE, dbf, packed, parts, point, shp
from tests.make import square
from tests.make.features import collection, feature

SECRET = "e7a3c1d9"
READERS = (GeoJsonReader, ShapefileReader, GeoPackageReader, open_file)


class Bait(NamedTuple):
    """A file and a URL that nobody may read."""

    file: Path
    url: str


@pytest.fixture
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    """Fails where something reads the file, or asks for the URL."""
    file = tmp_path_factory.mktemp("bait") / "secret.csv"
    file.write_text(f"name,wkt\n{SECRET},POINT (1 2)\n")
    os.utime(file, (0, file.stat().st_mtime))  # reading it changes the first
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Bait(file, f"http://127.0.0.1:{server.getsockname()[1]}/{SECRET}")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert file.stat().st_atime == 0


def outcome(reader: Callable[[Path], FormatReader], path: Path) -> str:
    """All that is read of a file, or why it is not."""
    try:
        with closing(reader(path)) as opened:
            found = [list(opened.read_features(layer, None)) for layer in opened.layers]
            return repr((opened.layers, found, opened.notes))
    except FileInvalid as error:
        return f"refused: {error}"


def test_a_virtual_layer(tmp_path: Path, bait: Bait) -> None:
    for reader in READERS:
        for source in ("{file}", "/vsicurl/{url}"):
            path = tmp_path / "upload"
            path.write_text(
                '<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>'
                f"{source.format(file=bait.file, url=bait.url)}</SrcDataSource>"
                "<GeometryField encoding='WKT' field='wkt'/></OGRVRTLayer></OGRVRTDataSource>"
            )
            assert outcome(reader, path).startswith("refused: "), (reader, source)


def test_links_in_geojson(tmp_path: Path, bait: Bait) -> None:
    path = tmp_path / "upload"
    for target in (bait.url, str(bait.file), f"file://{bait.file}", f"+init={bait.file}:1"):
        for crs in (
            {"type": "link", "properties": {"href": target, "type": "ogcwkt"}},
            {"type": "name", "properties": {"name": target}},
            target,
        ):
            path.write_bytes(collection(feature(square()), crs=crs))
            assert "crs=None, accuracy=None" in outcome(GeoJsonReader, path)


def test_links_in_a_prj(tmp_path: Path, bait: Bait) -> None:
    for target in (
        bait.url,
        str(bait.file),
        f"+proj=longlat +nadgrids={bait.file}",
        f'GEOGCS["x",DATUM["y",SPHEROID["z",6378206.4,295],EXTENSION["PROJ4_GRIDS","{bait.file}"]],'
        'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]',
    ):
        path = packed(tmp_path, shp=shp(parts(SQUARE)), prj=target.encode())
        assert "The coordinate system of" in outcome(ShapefileReader, path)


def test_names_of_other_files_in_a_zip(tmp_path: Path, bait: Bait) -> None:
    names = dbf([(b"name", "C", 80, 0)], b" " + str(bait.file).encode().ljust(80))
    path = packed(tmp_path, shp=shp(point(1, 2)), dbf=names, cpg=str(bait.file).encode())
    assert SECRET not in outcome(ShapefileReader, path)


def test_links_in_a_geopackage(tmp_path: Path, bait: Bait) -> None:
    update = "UPDATE gpkg_spatial_ref_sys SET organization = ?, definition = ?"
    for target in (bait.url, str(bait.file), f"+proj=longlat +nadgrids={bait.file}"):
        path = one_square(tmp_path, (update, [target, target]))
        assert "is not a known coordinate reference system" in outcome(GeoPackageReader, path)


def test_tables_that_are_other_files(tmp_path: Path, bait: Bait) -> None:
    for definition in (
        "CREATE VIRTUAL TABLE secret USING VirtualText('{file}', 'UTF-8', 1, COMMA)",
        "CREATE VIRTUAL TABLE secret USING csv(filename='{file}')",
        "CREATE VIEW secret AS SELECT readfile('{file}') AS geom",
        "CREATE VIEW secret AS SELECT geom, load_extension('{file}') FROM forests",
    ):
        for name in ("secret", "gpkg_contents", "gpkg_spatial_ref_sys"):
            path = one_square(
                tmp_path,
                "INSERT INTO gpkg_contents(table_name, data_type, identifier) "
                "VALUES ('secret', 'features', 's')",
                "INSERT INTO gpkg_geometry_columns "
                "VALUES ('secret', 'geom', 'POLYGON', 4326, 0, 0)",
            )
            sql = definition.format(file=bait.file).replace(" secret ", f" {name} ")
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA writable_schema = ON")
                connection.execute("DELETE FROM sqlite_master WHERE tbl_name = ?", [name])
                row = ["table", name, name, 2, sql]
                connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
            found = outcome(GeoPackageReader, path)
            assert SECRET not in found, (definition, name)
            assert (
                found.startswith("refused: ")
                or 'The layer "secret" is a view, or no table' in found
            ), (
                definition,
                name,
            )
