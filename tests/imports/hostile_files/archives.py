"""Zip files that are bombs, lead out of their folder, or lie."""

from __future__ import annotations

import copy
import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable
from typing import Final

from tests.imports.hostile_files.kinds import MEGABYTE, HostileFile, Makers

KML: Final = (
    b"<kml><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>"
)
Change = Callable[[zipfile.ZipFile, Makers], None]


def _zip(fill: Change) -> Callable[[Makers], bytes]:
    def make(makers: Makers) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            fill(archive, makers)
        return buffer.getvalue()

    return make


def _member(name: str, content: bytes = KML) -> Change:
    return lambda archive, _: archive.writestr(name, content)


def spread(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes]) -> None:
    """Write a large member piece by piece."""
    with archive.open(name, "w", force_zip64=True) as member:
        for piece in pieces:
            member.write(piece)


def _bomb(archive: zipfile.ZipFile, _: Makers) -> None:
    spread(archive, "doc.kml", [b"<kml>", *[b" " * MEGABYTE] * 1000])


def _lying(archive: zipfile.ZipFile, makers: Makers) -> None:
    """The list of members says that the bomb has ten bytes."""
    _bomb(archive, makers)
    archive.filelist[0].file_size = 10


def _overlapping(archive: zipfile.ZipFile, _: Makers) -> None:
    spread(archive, "0.kml", [b" " * MEGABYTE] * 9)
    for number in range(1, 90):
        twin = copy.copy(archive.filelist[0])
        twin.filename = f"{number}.kml"
        archive.filelist.append(twin)


def _slip(archive: zipfile.ZipFile, makers: Makers) -> None:
    archive.writestr("doc.kml", KML)
    archive.writestr(f"../../../../../../../..{makers.bait.folder}/slipped.kml", KML)


def _absolute(archive: zipfile.ZipFile, makers: Makers) -> None:
    archive.filelist.clear()
    info = zipfile.ZipInfo("x")
    info.filename = f"{makers.bait.folder}/slipped.shp"
    archive.writestr(info, KML)


def _link(archive: zipfile.ZipFile, makers: Makers) -> None:
    info = zipfile.ZipInfo("doc.kml")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(info, str(makers.bait.file))


def _nested(archive: zipfile.ZipFile, makers: Makers) -> None:
    inner = _zip(_bomb)(makers)
    for _ in range(5):
        inner = _zip(_member("inner.zip", inner))(makers)
    archive.writestr("bomb.zip", inner)


def _beside(archive: zipfile.ZipFile, makers: Makers) -> None:
    """A KML file with a bomb in a zip file next to it, which nobody opens."""
    archive.writestr("doc.kml", KML)
    archive.writestr("bomb.zip", _zip(_bomb)(makers))


def _many(archive: zipfile.ZipFile, _: Makers) -> None:
    for number in range(100_000):
        archive.writestr(zipfile.ZipInfo(f"{number}.kml"), b"")


def _padded(makers: Makers, name: str, pieces: Iterable[bytes]) -> bytes:
    """A zip file that unpacks to 20 times its size, as it may: to 500 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        padding = os.urandom(25 * MEGABYTE)
        archive.writestr(zipfile.ZipInfo("padding.bin"), padding)
        spread(archive, name, pieces)
    return buffer.getvalue()


def _long_names(makers: Makers) -> bytes:
    """10,000 features, each with a name of 45 KB."""
    one = b"<Placemark><name>" + b"x" * 45_000 + b"</name></Placemark>"
    return _padded(makers, "doc.kml", [b"<kml>", *[one] * 10_000, b"</kml>"])


def _large_record(makers: Makers) -> bytes:
    size = 470 * MEGABYTE
    head = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, (108 + size) // 2)
    head += struct.pack("<2i8d", 1000, 5, *[0.0] * 8) + struct.pack(">2i", 1, size // 2)
    return _padded(makers, "a.shp", [head, struct.pack("<i", 5), bytes(size - 4)])


def _before(start: bytes) -> Callable[[Makers], bytes]:
    """Two files in one: what begins so, and a zip file."""
    return lambda makers: start + _zip(_member("doc.kml"))(makers)


ARCHIVES: Final = (
    HostileFile("zip bomb, 1 MB to 1 GB", _zip(_bomb), "unpacks to more than", "a.kmz"),
    HostileFile("zip bomb that says it is small", _zip(_lying), "damaged", "a.kmz"),
    HostileFile("zip bomb of shared bytes", _zip(_overlapping), "unpacks to more than", "a.zip"),
    HostileFile("zip files five deep", _zip(_nested), "Unpack it"),
    HostileFile("zip bomb beside a KML file", _zip(_beside), "", "a.kmz"),
    HostileFile("zip slip, ../", _zip(_slip), "leads out of it", "a.kmz"),
    HostileFile("zip slip, absolute", _zip(_absolute), "leads out of it", "a.zip"),
    HostileFile("zip with a link", _zip(_link), "link or a device", "a.kmz"),
    HostileFile("zip of 100,000 members", _zip(_many), "more than 10,000 files", is_large=True),
    HostileFile("PDF and zip in one", _before(b"%PDF-1.4\n"), "PDF"),
    HostileFile("KML and zip in one", _before(KML), "not known", "a.kmz"),
    HostileFile("zip: 10,000 names of 45 KB", _long_names, "", is_large=True),
    HostileFile("zip: a shape of 470 MB", _large_record, "", is_large=True),
)
