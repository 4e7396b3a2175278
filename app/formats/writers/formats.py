"""The writer of each format of ``app.policy.files.FORMATS_OUT`` but ``eudr``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from app.formats.writers.delimited import write_csv
from app.formats.writers.geojson import write_collection, write_lines
from app.formats.writers.gpkg import write_gpkg
from app.formats.writers.gpx import write_gpx
from app.formats.writers.kml import write_kml
from app.formats.writers.shapefile import write_shapefile
from app.formats.writers.source import FeatureSource

READ_TWICE: Final = ("csv", "kml", "gpkg", "shp")  # first for the columns of the metadata

# Written piece by piece, each of which can be sent at once.
STREAMED: Final[dict[str, Callable[[FeatureSource], Iterator[bytes]]]] = {
    "geojson": write_collection,
    "geojsonl": write_lines,
    "csv": write_csv,
    "kml": write_kml,
    "gpx": write_gpx,
}

# Written as a whole, to a file in a folder.
WHOLE: Final[dict[str, Callable[[FeatureSource, Path], IO[bytes]]]] = {
    "gpkg": write_gpkg,
    "shp": write_shapefile,
}
