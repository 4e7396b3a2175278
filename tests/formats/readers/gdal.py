"""Files as GDAL writes them, which is what most programs write with."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyogrio
import shapely
from pyproj import Transformer

from app.geometry import read_boundary
from tests.architecture.sources import ROOT

# Ranger districts of the US, with islands and holes, and their names.
DISTRICTS: Final = json.loads((ROOT / "app/demo/districts.geojson").read_text())["features"]
SHAPES: Final = [shapely.from_geojson(json.dumps(one["geometry"])) for one in DISTRICTS]
NAMES: Final = [one["properties"]["district"] for one in DISTRICTS]
AREAS: Final = [read_boundary(one["geometry"]).area_m2 for one in DISTRICTS]


pyogrio.set_gdal_config_options({"OGR_SQLITE_SYNCHRONOUS": "OFF"})  # nobody turns the power off


def write(
    path: Path,
    driver: str,
    shapes: Iterable[Any] = SHAPES,
    *,
    crs: str = "EPSG:4326",
    **options: Any,
) -> Path:
    """Write shapes in longitude and latitude into a file in another system.

    Args:
        options: ``columns``, the values of each by its name, and what ``pyogrio.raw.write`` takes.
    """
    columns = options.pop("columns", {"name": NAMES})
    there = [projected(shape, crs) for shape in shapes]
    if not options.get("append"):
        path.unlink(missing_ok=True)
    options.setdefault("geometry_type", "Unknown")
    pyogrio.raw.write(
        path,
        shapely.to_wkb(np.array(there, dtype=object)),
        [np.array(values) for values in columns.values()],
        list(columns),
        driver=driver,
        crs=crs or None,
        **options,
    )
    return path


def projected(shape: Any, crs: str) -> Any:
    """A shape in longitude and latitude, in another system."""
    if shape is None or crs in ("", "EPSG:4326"):
        return shape
    to = Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    return shapely.transform(shape, lambda x, y: to.transform(x, y), interleaved=False)


def zipped(folder: Path, *leave_out: str, **renamed: str) -> Path:
    """All files of a folder, and below, as a zip file beside it.

    Args:
        leave_out: suffixes, such as ".prj".
        renamed: the name of a member by its suffix without the dot.
    """
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for one in sorted(folder.rglob("*")):
            if one.is_file() and one.suffix not in leave_out:
                name = renamed.get(one.suffix[1:], str(one.relative_to(folder)))
                file.write(one, name)
    return path
