"""XML, JSON and CSV that expand, lead elsewhere, or are large."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Final

from tests.geometry.expensive_shapes import SHAPES
from tests.imports.hostile_files.kinds import HostileFile, Makers
from tests.make import square
from tests.make.features import collection, feature

_LOLS: Final = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(10)
)
_KML: Final = "<kml><Placemark><name>{}</name></Placemark></kml>"
_GPX: Final = '<gpx><wpt lat="1" lon="2"><name>{}</name></wpt></gpx>'
_DOCTYPE: Final = "DOCTYPE"


def _xml(text: str, doctype: str = "") -> Callable[[Makers], bytes]:
    return lambda makers: ('<?xml version="1.0"?>' + makers.baited(doctype + text)).encode()


def _entities(text: str) -> Callable[[Makers], bytes]:
    return _xml(text.format("&l9;"), f"<!DOCTYPE x [{_LOLS}]>")


def _external(text: str, target: str) -> Callable[[Makers], bytes]:
    return _xml(text.format("&e;"), f'<!DOCTYPE x [<!ENTITY e SYSTEM "{target}">]>')


def _kmz(make: Callable[[Makers], bytes]) -> Callable[[Makers], bytes]:
    def packed(makers: Makers) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("doc.kml", make(makers))
        return buffer.getvalue()

    return packed


def _plain(content: bytes) -> Callable[[Makers], bytes]:
    return lambda _: content


def _filled(start: bytes, repeated: bytes, end: bytes = b"") -> Callable[[Makers], bytes]:
    """As many times as an upload may have bytes."""

    def make(makers: Makers) -> bytes:
        times = (makers.most - len(start) - len(end)) // len(repeated)
        return start + repeated * times + end

    return make


def _vrt(source: str) -> Callable[[Makers], bytes]:
    return _xml(
        f'<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>{source}</SrcDataSource>'
        "</OGRVRTLayer></OGRVRTDataSource>"
    )


def _crs(target: str) -> Callable[[Makers], bytes]:
    def make(makers: Makers) -> bytes:
        link = {"href": makers.baited(target), "type": "ogcwkt"}
        return collection(feature(square(), name="a"), crs={"type": "link", "properties": link})

    return make


def _expensive(shape: str, positions: int) -> Callable[[Makers], bytes]:
    """As many polygons as an upload takes, each slow to validate."""

    def make(makers: Makers) -> bytes:
        one = json.dumps(feature(SHAPES[shape](positions), name="a")).encode()
        number = (makers.most - 100) // (len(one) + 1)
        return b'{"type":"FeatureCollection","features":[' + b",".join([one] * number) + b"]}"

    return make


def _columns(makers: Makers) -> bytes:
    """500 columns, whose names are long, in many features."""
    names = {f"{number:03}{'x' * 900}": number for number in range(500)}
    one = json.dumps(feature(None, **names)).encode()
    return b"\n".join([one] * ((makers.most - 100) // (len(one) + 1)))


_HEAD: Final = b'{"type":"Feature","geometry":null,"properties":{"name":"a"'
_POINT: Final = _HEAD.replace(b"null", b'{"type":"Point","coordinates":%s}')
_LINKS: Final = (
    "<kml xmlns:xi='http://www.w3.org/2001/XInclude' schemaLocation='{url} {url}'>"
    "<NetworkLink><Link><href>{url}</href></Link></NetworkLink><NetworkLink><Url>"
    "<href>file://{file}</href></Url></NetworkLink><xi:include href='{url}'/><Style><IconStyle>"
    "<Icon><href>{url}</href></Icon></IconStyle></Style><Placemark><name>a</name><Point>"
    "<coordinates>1,2</coordinates></Point></Placemark></kml>"
)
_NULL: Final = b'{"type":"Feature","geometry":null,"properties":{}}\n'
_PARAMETER: Final = '<!DOCTYPE x [<!ENTITY % p SYSTEM "{url}">%p;]>'

_SMALL: Final = (
    ("KML entity bomb", _entities(_KML), _DOCTYPE),
    ("KMZ entity bomb", _kmz(_entities(_KML)), _DOCTYPE, "a.kmz"),
    ("GPX entity bomb", _entities(_GPX), _DOCTYPE),
    ("KML, entity of a file", _external(_KML, "file://{file}"), _DOCTYPE),
    ("GPX, entity of a URL", _external(_GPX, "{url}"), _DOCTYPE),
    ("KML, parameter entity", _xml(_KML, _PARAMETER), _DOCTYPE),
    ("KML, DTD at a URL", _xml(_KML, '<!DOCTYPE x SYSTEM "{url}">'), _DOCTYPE),
    ("KML, links and includes", _xml(_LINKS), ""),
    *((f"VRT as .{name}", _vrt("{file}"), "VRT", f"a.{name}") for name in ("kml", "csv", "gpkg")),
    ("VRT of a URL", _vrt("/vsicurl/{url}"), "VRT", "a.vrt"),
    ("GeoJSON, crs at a URL", _crs("{url}"), ""),
    ("GeoJSON, crs in a file", _crs("file://{file}"), ""),
    ("KML nested a million deep", lambda _: b"<kml>" + b"<Folder>" * 10**6, "nested"),
    ("JSON nested a million deep", lambda _: b"[" * 10**6, "nested"),
    (
        "GeoJSON nested a million deep",
        lambda _: _POINT % (b"[" * 10**6 + b"]" * 10**6) + b"}}",
        "nested too deeply",
    ),
    ("GeoJSON, 1e999", _plain(_POINT % b"[1e999, -1e999]" + b"}}"), "too large"),
    ("more bytes than an upload may have", lambda made: bytes(made.most + 100_000), None),
)
_LARGE: Final = (
    ("10,000,000 points in CSV", _filled(b"x;y\n", b"1;2\n"), "50,000"),
    ("1,000,000 features in lines", _filled(b"", _NULL), "50,000"),
    ("CSV, a value of 50 MB", _filled(b'name,wkt\na,"', b"x"), "longer"),
    ("CSV, a row of 25,000,000 fields", _filled(b"a;b\n1", b";"), ""),
    ("GeoJSON, a text of 50 MB", _filled(_HEAD[:-1], b"x", b'"}}'), "A text near byte"),
    (
        "GeoJSON, 3,000,000 values in one",
        lambda _: _HEAD + b',"v":[' + b"[]," * 1_499_000 + b"[]]}}",
        "",
    ),
    ("GeoJSON, 500 long columns", _columns, "100,000 characters"),
    ("GeoJSON, slow zigzags", _expensive("zigzag", 90_000), ""),
    ("GeoJSON, slow holes", _expensive("holes_beside_comb", 38_000), ""),
)
TEXTS: Final = (
    *(HostileFile(*each) for each in _SMALL),
    *(HostileFile(*each, is_large=True) for each in _LARGE),
)
