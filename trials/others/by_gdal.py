"""What GDAL reads of a file: the features of a layer, on WGS 84."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

import numpy as np
import pyogrio
import shapely
from pyproj import Geod, Transformer
from pyproj.exceptions import ProjError

from app.formats.readers.kml import ALL_FOLDERS

# A VRT is a text that names another file of this machine.
pyogrio.set_gdal_config_options({"OGR_SKIP": "OGR_VRT,PDF,HTTP", "OGR_GEOJSON_MAX_OBJ_SIZE": "0"})
_GEOD: Final = Geod(ellps="WGS84")
_AREAS: Final = ("Polygon", "MultiPolygon")
_CSV: Final = {
    "GEOM_POSSIBLE_NAMES": "*geom*,*wkt*,*shape*,geo,geojson,.geo",
    "X_POSSIBLE_NAMES": "lon*,lng,x,*longitud*,east*,point_x",
    "Y_POSSIBLE_NAMES": "lat*,y,*latitud*,north*,point_y",
    "KEEP_GEOM_COLUMNS": "NO",
}


@dataclass(frozen=True, slots=True)
class Read:
    """Features of a layer. ``shapes`` are None where there is no geometry, or an empty one;
    ``columns`` have the values of each column. ``crs`` is False if the file does not say it."""

    shapes: list[Any]
    columns: dict[str, list[Any]]
    crs: bool

    def areas(self) -> list[float]:
        """The area of each shape on the ellipsoid, in square meters."""
        return [_area(shape) for shape in self.shapes]

    def kinds(self) -> set[str]:
        return {shape.geom_type for shape in self.shapes if shape is not None}


def layers_of(path: Path | str) -> list[str]:
    """The names of the layers; none if GDAL cannot read the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [str(name) for name, _ in pyogrio.list_layers(path)]
        except (pyogrio.errors.DataSourceError, RuntimeError, ValueError, OSError):
            return []


def read_layer(path: Path | str, file_format: str | None, layer: str | None) -> Read | None:
    """The features that Canopy calls the layer of this name; None if GDAL cannot read them."""
    path = _inside(path, layer)
    names = layers_of(path)
    if layer != ALL_FOLDERS and len(names) > 1:
        wanted = [name for name in names if name == layer]
        names = wanted or names[:1]
    options = _CSV if file_format == "csv" else {}
    found = [each for name in names if (each := _read(path, name, options))]
    if not found:
        return None
    columns: dict[str, list[Any]] = {}
    for each in found:
        columns |= each.columns
    if len(found) > 1:
        columns = {name: [] for name in columns}
    shapes = [shape for each in found for shape in each.shapes]
    return Read(shapes, columns, all(each.crs for each in found))


def _inside(path: Path | str, layer: str | None) -> Path | str:
    """The shapefile of this name in a zip file, which may be in a folder there, or its KML."""
    if not zipfile.is_zipfile(path):
        return path
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    shapefiles = [name for name in names if name.lower().endswith(".shp")]
    wanted = [name for name in shapefiles if PurePosixPath(name).stem == layer]
    if not shapefiles:
        wanted = [name for name in names if name.lower().endswith(".kml")]
    return f"/vsizip/{path}/{wanted[0]}" if wanted else path


def _read(path: Path | str, layer: str, options: dict[str, str]) -> Read | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            meta, _, wkb, values = pyogrio.raw.read(path, layer=layer, **options)
        except (
            pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, RuntimeError,
            ValueError, OSError, AttributeError,
        ):  # fmt: skip
            return None
    number = len(wkb) if wkb is not None else (len(values[0]) if values else 0)
    shapes = list(_shapes(wkb, number))
    crs = meta["crs"]
    if crs and crs != "EPSG:4326":
        try:
            shapes = _on_wgs84(shapes, crs)
        except ProjError:
            crs = None
    rows: Any = range(number)
    if options:  # in a CSV file, blank lines are no features
        rows = [n for n in rows if shapes[n] is not None or any(column[n] for column in values)]
        shapes = [shapes[n] for n in rows]
    if layer == "tracks":  # GDAL reads one twice that is in the metadata of a GPX file
        known = {shapes[n].wkb: n for n in reversed(rows) if shapes[n] is not None}
        rows = [n for n in rows if shapes[n] is None or known[shapes[n].wkb] == n]
        shapes = [shapes[n] for n in rows]
    columns = {
        str(name): [column[n] for n in rows]
        for name, column in zip(meta["fields"], values, strict=True)
    }
    return Read(shapes, columns, bool(crs))


def _shapes(wkb: Any, number: int) -> Iterator[Any]:
    for one in wkb if wkb is not None else [None] * number:
        shape = None
        if one is not None:
            shape = shapely.from_wkb(one, on_invalid="ignore")
        yield None if shape is None or shape.is_empty else shapely.force_2d(shape)


def _on_wgs84(shapes: list[Any], crs: str) -> list[Any]:
    # As Canopy does: a shift of the datum also where a file lies outside its area, if one is known.
    try:
        transformer = Transformer.from_crs(crs, "EPSG:4326", always_xy=True, allow_ballpark=False)
    except ProjError:
        transformer = Transformer.from_crs(crs, "EPSG:4326", always_xy=True)

    def moved(points: Any) -> Any:
        return np.column_stack(transformer.transform(points[:, 0], points[:, 1]))

    return [None if shape is None else shapely.transform(shape, moved) for shape in shapes]


def _area(shape: Any) -> float:
    if shape is None:
        return 0.0
    if shape.geom_type == "Polygon":
        outer = _ring(shape.exterior)
        return outer - sum(_ring(ring) for ring in shape.interiors)
    return sum(_area(part) for part in getattr(shape, "geoms", ()))


def _ring(ring: Any) -> float:
    x, y = np.array(ring.coords)[:, :2].T
    return abs(float(_GEOD.polygon_area_perimeter(x, y)[0]))
