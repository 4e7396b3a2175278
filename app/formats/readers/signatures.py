"""The beginnings of files that cannot be imported, with advice for each."""

from __future__ import annotations

from typing import Final

_PART: Final = "one part of a shapefile,"
CONVERT: Final = "Convert it to GeoPackage or GeoJSON, for example with QGIS."
SAVE_AS_CSV: Final = "Save the sheet as CSV."
UNPACK: Final = "Unpack it, and send the file that is in it."
_ZIP: Final = "Send a zip file that has its .shp, .shx, .dbf and .prj files in it."
_NO_IMAGE: Final = "Boundaries and points are read from vector files only."

# The kind of a file, with an article, and the advice, by a regular expression for its beginning.
SIGNATURES: Final = (
    (rb"\0\0\x27\x0a", f"a .shp or .shx file, {_PART}", _ZIP),
    (rb"[\x03\x83\x8b\xf5].[\x01-\x0c][\x01-\x1f]", f"a .dbf file, {_PART}", _ZIP),
    (rb"(PROJCS|GEOGCS|COMPD_CS|PROJCRS|GEOGCRS)\[", f"a .prj file, {_PART}", _ZIP),
    (rb"fgb\x03", "a FlatGeobuf file", CONVERT),
    (rb"PAR1\x15", "a Parquet file", CONVERT),
    (rb"%PDF-", "a PDF file", "Export the layer itself from the program that made it."),
    (rb"\x1f\x8b", "a gzip file", UNPACK),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z file", UNPACK),
    (rb"Rar!\x1a\x07", "a RAR file", UNPACK),
    (rb"BZh[1-9]1AY&SY", "a bzip2 file", UNPACK),
    (rb"\xfd7zXZ\0", "an xz file", UNPACK),
    (rb"\x28\xb5\x2f\xfd", "a zstd file", UNPACK),
    (rb".{257}ustar", "a tar file", UNPACK),
    (rb"\xd0\xcf\x11\xe0", "an Excel or Word file of before 2007", SAVE_AS_CSV),
    (rb"\0\x01\0\0Standard (Jet|ACE) DB", "an Access database", CONVERT),
    (
        rb"AutoCAD Binary DXF|\A\s*+(999[ \t\r]*+\n[^\n]*+\n\s*+)?0\s++SECTION\b",
        "a DXF drawing",
        CONVERT,
    ),
    (rb"AC10[0-9]{2}\0", "a DWG drawing", CONVERT),
    (
        rb"(?i:version\s+[0-9]+\s+(charset|delimiter|coordsys|columns))",
        "a MapInfo MIF file",
        CONVERT,
    ),
    (rb"(?i:!table)", "a MapInfo TAB file", CONVERT),
    (rb"MsRcf\0", "a Garmin GDB file", "Save it as GPX."),
    (rb"[\x0c\x0e].{7}\.FIT", "a Garmin FIT file", "Save it as GPX."),
    (rb"II\*\0|MM\0\*|II\+\0", "a TIFF image", _NO_IMAGE),
    (rb"\x89PNG|\xff\xd8\xff", "an image", _NO_IMAGE),
    (rb"\{\\rtf", "an RTF document", SAVE_AS_CSV),
)

# The kind of an XML file and the advice, by the name of its root.
ROOTS: Final = {
    "html": (
        "an HTML page",
        "Perhaps it is a page to sign in, or to download from: save the file.",
    ),
    "FeatureCollection": ("a GML file", CONVERT),
    "OGRVRTDataSource": ("a VRT file", "Send the file that it refers to."),
    "VRTDataset": ("a VRT file", "Send the file that it refers to."),
    "qgis": ("a QGIS project", "Export its layer as GeoPackage."),
    "osm": ("an OpenStreetMap file", CONVERT),
    "TrainingCenterDatabase": ("a TCX file", "Save it as GPX."),
    "svg": ("an image", _NO_IMAGE),
    "Workbook": ("an Excel file", SAVE_AS_CSV),
}

# The kind of a zip file and the advice, by the endings of the names in it.
MEMBERS: Final = (
    (("xl/workbook.xml", "xl/workbook.bin"), "an Excel file", SAVE_AS_CSV),
    (("word/document.xml",), "a Word file", SAVE_AS_CSV),
    (("content.xml",), "an OpenDocument file", SAVE_AS_CSV),
    ((".gdbtable",), "an Esri file geodatabase", CONVERT),
    ((".qgs",), "a QGIS project", "Export its layer as GeoPackage."),
    (
        (".gpkg", ".geojson", ".json", ".geojsonl", ".csv", ".gpx", ".kmz", ".zip"),
        "a zip file without a shapefile or KML in it",
        UNPACK,
    ),
    ((".dbf", ".shx", ".prj"), "a zip file with a shapefile that lacks its .shp", _ZIP),
    (
        (".gml", ".fgb", ".parquet", ".tab", ".mif", ".dxf"),
        "a zip file without a shapefile or KML in it",
        CONVERT,
    ),
)
