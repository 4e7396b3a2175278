"""Records to write, and what real readers make of the files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import shapely
from fastkml import KML, Placemark, Schema
from fastkml.utils import find_all
from pyogrio import raw

from app.formats.writers.features import ASSETS, PROJECTS, FeatureType
from app.formats.writers.formats import STREAMED, WHOLE
from app.formats.writers.source import FeatureSource
from app.policy.fields import ASSET, PROJECT
from app.policy.files import FORMATS_OUT
from app.values.strict_json import Fragment, dumps

Record = dict[str, Any]

_TIME = "2026-01-02T03:04:05.678Z"
_PROJECT = [field.name for field in PROJECT]
_ASSET = [field.name for field in ASSET]


def project(
    number: int = 1, *, geometry: Any = None, metadata: Any = None, **fields: Any
) -> Record:
    """The record of a project, as it comes from the database."""
    return (
        dict.fromkeys(_PROJECT)
        | {
            "id": f"proj_{number:026d}",
            "name": f"Forest {number}",
            "slug": f"forest-{number}",
            "geometry": _fragment(geometry),
            "area_hectares": 12.3456 if geometry else None,
            "status": "active",
            "metadata": _fragment(metadata),
            "created_at": _TIME,
            "updated_at": _TIME,
        }
        | fields
    )


def asset(number: int = 1, *, location: Any = None, metadata: Any = None, **fields: Any) -> Record:
    """The record of an asset."""
    return (
        dict.fromkeys(_ASSET)
        | {
            "id": f"asset_{number:026d}",
            "project_id": "proj_00000000000000000000000001",
            "name": f"Station {number}",
            "type": "equipment",
            "location": _fragment(location),
            "status": "active",
            "metadata": _fragment(metadata),
            "created_at": _TIME,
            "updated_at": _TIME,
        }
        | fields
    )


def _fragment(value: Any) -> Fragment | None:
    return None if value is None else Fragment(json.dumps(value))


def source(*records: Record, type: FeatureType | None = None) -> FeatureSource:
    """What a writer writes these from."""
    made = type or (ASSETS if records and "location" in records[0] else PROJECTS)
    return changing_source(records, records, made)


def changing_source(
    before: Sequence[Record], after: Sequence[Record], type: FeatureType = PROJECTS
) -> FeatureSource:
    """Records that somebody changes after their metadata was read."""
    known = [dumps(each["metadata"]).decode() for each in before if each["metadata"]]
    return FeatureSource(type, lambda: iter(after), lambda: iter(known))


def write(source: FeatureSource, format_name: str, folder: Path) -> Path:
    """The path of the file."""
    path = folder / f"{source.type.name}.{FORMATS_OUT[format_name][1]}"
    if format_name in STREAMED:
        path.write_bytes(b"".join(STREAMED[format_name](source)))
        return path
    with WHOLE[format_name](source, folder) as file:
        path.write_bytes(file.read())
    return path


class Layer(NamedTuple):
    """A layer as another program reads it: shapes and values of all features, None where there
    are none."""

    geometries: list[Any]
    columns: dict[str, list[Any]]
    types: dict[str, str]
    crs: str | None
    geometry_type: str | None

    @property
    def areas(self) -> list[float | None]:
        return [None if shape is None else shape.area for shape in self.geometries]


def read_layer(path: Path, layer: str | None = None) -> Layer:
    """All of a layer: of KML as fastkml reads it, for not every GDAL has LIBKML, else as GDAL
    does."""
    if path.suffix == ".kml":
        return _read_kml(path)
    options = {"GEOM_POSSIBLE_NAMES": "geometry", "AUTODETECT_TYPE": "YES"}
    csv = options if path.suffix == ".csv" else {}
    found, _, geometries, values = raw.read(path, layer=layer, **csv)
    shapes = [None if each is None else shapely.from_wkb(each) for each in geometries]
    columns = {
        name: [_plain(value) for value in column]
        for name, column in zip(found["fields"], values, strict=True)
    }
    types = dict(zip(found["fields"], found["ogr_types"], strict=True))
    return Layer(shapes, columns, types, found["crs"], found["geometry_type"])


_KML_TYPES = {
    "string": ("OFTString", str),
    "int": ("OFTInteger", int),
    "double": ("OFTReal", float),
    "bool": ("OFTInteger", lambda text: text == "true"),
}


def _read_kml(path: Path) -> Layer:
    document = KML.parse(path)
    placemarks = list(find_all(document, of_type=Placemark))
    fields = {
        each.name: each.type_.value for each in next(find_all(document, of_type=Schema)).fields
    }
    columns: dict[str, list[Any]] = {"name": [each.name for each in placemarks]}
    columns |= {name: [None] * len(placemarks) for name in fields}
    for number, placemark in enumerate(placemarks):
        for each in placemark.extended_data.elements[0].data:
            columns[each.name][number] = _KML_TYPES[fields[each.name]][1](each.value or "")
    shapes = [each.geometry and shapely.geometry.shape(each.geometry) for each in placemarks]
    types = {name: _KML_TYPES[type][0] for name, type in fields.items()}
    return Layer(shapes, columns, types, "EPSG:4326", None)


def _plain(value: Any) -> Any:
    """A value of numpy as one of Python; NaN is what pyogrio gives for none."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and value != value else value
