"""XML, JSON and CSV that expand, lead elsewhere, or are large."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Final

from tests.geometry.expensive_shapes import SHAPES
from tests.make import square
from tests.make.features import collection, feature
from trials.faults.hostile_files.kinds import HostileFile, Makers

_LOLS: Final = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(10)
)
_KML: Final = "<kml><Placemark><name>{}</name></Placemark></kml>"
_GPX: Final = '<gpx><wpt lat="1" lon="2"><name>{}</name></wpt></gpx>'
_DOCTYPE: Final = "DOCTYPE"


def _xml(text: str, doctype: str = "") -> Callable[[Makers], bytes]:
    """``{file}`` and ``{url}`` are the bait's."""

    def make(makers: Makers) -> bytes:
        head = doctype.replace("{file}", str(makers.bait.file)).replace("{url}", makers.bait.url)
        own = text.replace("{file}", str(makers.bait.file)).replace("{url}", makers.bait.url)
        return ('<?xml version="1.0"?>' + head + own).encode()

    return make


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
        href = target.replace("{file}", str(makers.bait.file)).replace("{url}", makers.bait.url)
        crs = {"type": "link", "properties": {"href": href, "type": "ogcwkt"}}
        return collection(feature(square(), name="a"), crs=crs)

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


def _tokens(makers: Makers) -> bytes:
    """A feature of just as many values as one may have."""
    values = b"[" + b"[]," * 1_499_000 + b"[]]"
    return b'{"type":"Feature","geometry":null,"properties":{"name":"a","v":' + values + b"}}"


_POINT: Final = (
    b'{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":'
)
_LINKS: Final = (
    "<kml xmlns:xi='http://www.w3.org/2001/XInclude' schemaLocation='{url} {url}'>"
    "<NetworkLink><Link><href>{url}</href></Link></NetworkLink><NetworkLink><Url>"
    "<href>file://{file}</href></Url></NetworkLink><xi:include href='{url}'/><Style><IconStyle>"
    "<Icon><href>{url}</href></Icon></IconStyle></Style><Placemark><name>a</name><Point>"
    "<coordinates>1,2</coordinates></Point></Placemark></kml>"
)
_NAMES: Final = ("kml", "geojson", "gpx", "csv", "gpkg", "zip")

TEXTS: Final = (
    HostileFile("KML entity bomb", _entities(_KML), _DOCTYPE),
    HostileFile("KMZ entity bomb", _kmz(_entities(_KML)), _DOCTYPE, "a.kmz"),
    HostileFile("GPX entity bomb", _entities(_GPX), _DOCTYPE),
    HostileFile("KML, entity of a file", _external(_KML, "file://{file}"), _DOCTYPE),
    HostileFile("GPX, entity of a URL", _external(_GPX, "{url}"), _DOCTYPE),
    HostileFile("KMZ, entity of a URL", _kmz(_external(_KML, "{url}")), _DOCTYPE),
    HostileFile(
        "KML, parameter entity",
        _xml(_KML, '<!DOCTYPE x [<!ENTITY % p SYSTEM "{url}">%p;]>'),
        _DOCTYPE,
    ),
    HostileFile("KML, DTD at a URL", _xml(_KML, '<!DOCTYPE x SYSTEM "{url}">'), _DOCTYPE),
    HostileFile("KML, links and includes", _xml(_LINKS), ""),
    *(
        HostileFile(f"VRT of a file as .{name}", _vrt("{file}"), "VRT", f"a.{name}")
        for name in _NAMES
    ),
    HostileFile("VRT of a URL", _vrt("/vsicurl/{url}"), "VRT", "a.vrt"),
    HostileFile("GeoJSON, crs at a URL", _crs("{url}"), ""),
    HostileFile("GeoJSON, crs in a file", _crs("file://{file}"), ""),
    HostileFile("KML nested a million deep", _plain(b"<kml>" + b"<Folder>" * 10**6), "nested"),
    HostileFile("JSON nested a million deep", _plain(b"[" * 10**6), "nested"),
    HostileFile(
        "GeoJSON nested a million deep",
        _plain(_POINT + b"[" * 10**6 + b"]" * 10**6 + b"}}"),
        "nested too deeply",
    ),
    HostileFile("GeoJSON, NaN", _plain(_POINT + b"[NaN, Infinity]}}"), "JSON"),
    HostileFile("GeoJSON, 1e999", _plain(_POINT + b"[1e999, -1e999]}}"), "overflow"),
    HostileFile("CSV, nan and inf", _plain(b"name,x,y\na,nan,inf\nb,1e400,2\n"), "", "a.csv"),
    HostileFile(
        "CSV, WKT of nan", _plain(b'name,wkt\na,"POLYGON ((nan 1, 2 nan, inf 3, nan 1))"\n'), ""
    ),
    HostileFile("GeoJSON, cut off", _plain(collection(feature(square()))[:-30]), "incomplete"),
    HostileFile("KML, cut off", _plain(b"<kml><Placemark><name>a"), "incomplete"),
    HostileFile("KML in another encoding", _plain(_KML.encode() + b"\xff\xfe"), "XML"),
    HostileFile(
        "KML in UTF-7", _plain(b"<?xml version='1.0' encoding='UTF-7'?>" + _KML.encode()), "UTF-8"
    ),
    HostileFile("CSV in Latin-1", _plain("name,x,y\nF\xf6rst,1,2\n".encode("latin-1")), ""),
    HostileFile(
        "names with NUL and half a character",
        _plain(
            b"\n".join(
                b'{"type":"Feature","geometry":null,"properties":{"name":"a%sb"}}' % bad
                for bad in (rb"\u0000", rb"\ud800", rb"\uffff")
            )
        ),
        "",
    ),
    HostileFile("10,000,000 points in CSV", _filled(b"x;y\n", b"1;2\n"), "10,000", is_large=True),
    HostileFile(
        "1,000,000 features in lines",
        _filled(b"", b'{"type":"Feature","geometry":null,"properties":{}}\n'),
        "10,000",
        is_large=True,
    ),
    HostileFile("CSV, a value of 50 MB", _filled(b'name,wkt\na,"', b"x"), "longer", is_large=True),
    HostileFile("CSV, a row of 25,000,000 fields", _filled(b"a;b\n1", b";"), "", is_large=True),
    HostileFile(
        "GeoJSON, a text of 50 MB",
        _filled(b'{"type":"Feature","geometry":null,"properties":{"a":"', b"x", b'"}}'),
        "A text near byte",
        is_large=True,
    ),
    HostileFile("GeoJSON, 3,000,000 values in one", _tokens, "", is_large=True),
    HostileFile("GeoJSON, 500 long columns", _columns, "100,000 characters", is_large=True),
    HostileFile("GeoJSON, slow zigzags", _expensive("zigzag", 90_000), "", is_large=True),
    HostileFile("GeoJSON, slow holes", _expensive("holes_beside_comb", 38_000), "", is_large=True),
    HostileFile(
        "more bytes than an upload may have", lambda made: bytes(made.most + 100_000), None
    ),
)
