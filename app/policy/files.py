"""The formats of files, and what reading or writing one may take."""

from __future__ import annotations

from typing import Final

# Formats that an import reads, and their names in messages.
FORMATS_IN: Final[dict[str, str]] = {
    "geojson": "GeoJSON",
    "geojsonl": "GeoJSON text sequence",
    "kml": "KML",
    "kmz": "KMZ",
    "shp": "zipped shapefile",
    "gpkg": "GeoPackage",
    "gpx": "GPX",
    "csv": "CSV",
}

# Formats that an export writes: media type and file name extension.
FORMATS_OUT: Final[dict[str, tuple[str, str]]] = {
    "geojson": ("application/geo+json", "geojson"),
    "geojsonl": ("application/x-ndjson", "geojsonl"),  # text sequences have record separators
    "csv": ("text/csv; charset=utf-8", "csv"),
    "kml": ("application/vnd.google-earth.kml+xml", "kml"),
    "gpkg": ("application/geopackage+sqlite3", "gpkg"),
    "shp": ("application/zip", "shp.zip"),  # GDAL opens it without /vsizip/
    "gpx": ("application/gpx+xml", "gpx"),
    "eudr": ("application/geo+json", "geojson"),
    "eudr_simplified": ("text/csv; charset=utf-8", "csv"),
}
EUDR_FORMATS: Final = ("eudr", "eudr_simplified")

# What generators of clients take for bytes, whatever is in the file.
BINARY: Final = "application/octet-stream"

FEATURES: Final = 50_000  # in an imported layer
POSITIONS: Final = 5_000_000  # in all features of a layer
LAYERS: Final = 100
LAYER_SYSTEMS: Final = 10  # different ones that are looked up when a file is opened
COLUMNS: Final = 500
COLUMN_NAME_LENGTH: Final = 1000  # survey forms name columns by whole questions
NAMES_LENGTH: Final = 100_000  # characters in the names of all layers and columns together
VALUE_BYTES: Final = 1024 * 1024  # in one cell
COPIED_BYTES: Final = 20 * 1024 * 1024  # values of features that become an asset for each point
GEOMETRY_BYTES: Final = 32 * 1024 * 1024  # one geometry as the file encodes it
FEATURE_TOKENS: Final = 3_000_000  # keys, values, brackets in a GeoJSON feature; 300 MB of memory
CRS_LENGTH: Final = 20_000  # characters that define a coordinate reference system
SYSTEMS: Final = 10  # coordinate reference systems of the rows of a table, without zones of UTM
XML_DEPTH: Final = 100
DATABASE_STEPS: Final = 500_000_000  # SQLite's, for a whole GeoPackage

ZIP_MEMBERS: Final = 100  # read; the files of a shapefile count as one
ZIP_ENTRIES: Final = 10_000  # in total: photos and the like are not unpacked
ZIP_RATIO: Final = 20  # unpacked to packed, of the whole file
ZIP_SMALL_BYTES: Final = 10 * 1024 * 1024  # unpacked; a ratio says little about a small file
ZIP_BYTES: Final = 500 * 1024 * 1024  # unpacked

# The process that reads a file.
READ_MEMORY_BYTES: Final = 450 * 1024 * 1024  # beyond what it takes before it opens the file
READ_SECONDS: Final = 45  # processor time
WAIT_SECONDS: Final = 180.0  # for one answer, with the time in which other processes come first
TOTAL_WAIT_SECONDS: Final = 900.0  # for all answers
ANSWER_BYTES: Final = 16 * 1024 * 1024  # twice a boundary of GEOMETRY_POSITIONS with heights
ANSWERS_BYTES: Final = 512 * 1024 * 1024  # all answers together
# The same, for a file that is read while another account's is.
BRIEF_MEMORY_BYTES: Final = 100 * 1024 * 1024
BRIEF_SECONDS: Final = 5
BRIEF_WAIT_SECONDS: Final = 10.0  # for all answers

FORM_BYTES: Final = 64 * 1024  # a form with a file, without the file

# An export. One that takes long, as its client reads slowly, holds a thread of the web server.
EXPORTS_AT_ONCE: Final = 2  # in a process, each of another account
EXPORT_SECONDS: Final = 1800  # until the client has read all of it
EXPORT_TURN_SECONDS: Final = 300  # after which it ends if another account waits
EXPORT_WAIT_SECONDS: Final = 15  # for which the place of an account that was refused is kept
EXPORT_HELD_BYTES: Final = 1024 * 1024  # unread by the client; beyond them the export waits
EXPORT_CHECK_SECONDS: Final = 5  # between two checks that its reader still has access
EXPORT_RETRY_SECONDS: Final = 5
EXPORT_ROWS: Final = 200  # in a batch
EXPORT_ROWS_BYTES: Final = 4 * 1024 * 1024  # boundaries and metadata in a batch
EXPORT_KEYS: Final = 1000  # rows that one query tests

# The instance's own map: more of it in one response holds a place of the exports.
BASEMAP_RANGE_BYTES: Final = 8 * 1024 * 1024

# Keys of metadata that become columns of a table; the others share one column.
COLUMNS_OUT: Final = 200
COLUMN_KEY_LENGTH: Final = 100  # characters of a key that becomes a column
SHAPEFILE_BYTES: Final = 2**31 - 1  # each of its files
SHAPEFILE_TEXT_BYTES: Final = 254  # one value
