"""What large files, and those that are made to do harm, take of memory and time."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from app.policy.files import ZIP_SMALL_BYTES
from tests.formats.readers.reading import read_in_child

MEMORY = 200 * 1024 * 1024


@pytest.mark.trial
def test_a_large_kml_file_takes_little_memory(tmp_path: Path) -> None:
    ring = " ".join(f"{n / 1000:.15f},{n / 900:.15f},0" for n in range(110))
    polygon = f"<Polygon><outerBoundaryIs><LinearRing><coordinates>{ring} 0,0</coordinates>"
    path = tmp_path / "upload"
    with path.open("w") as file:
        file.write("<kml><Document>")
        for number in range(10_000):
            file.write(f"<Placemark><name>{number}</name><description>{'x' * 500}</description>")
            file.write(f"{polygon}</LinearRing></outerBoundaryIs></Polygon></Placemark>")
        file.write("</Document></kml>")
    assert path.stat().st_size > 48_000_000
    assert read_in_child(path, memory=30 * 1024 * 1024) == "10000"


@pytest.mark.trial
def test_a_large_csv_file_takes_little_memory(tmp_path: Path) -> None:
    ring = ", ".join(f"{n / 1000:.15f} {n / 900:.15f}" for n in range(110))
    path = tmp_path / "upload"
    with path.open("w") as file:
        file.write("name;wkt\n")
        for number in range(10_000):
            file.write(f"{number};POLYGON (({ring}, 0 0))\n")
    assert read_in_child(path, memory=30 * 1024 * 1024) == "10000"


@pytest.mark.slow
def test_a_kmz_bomb_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("doc.kml", "<kml>" + " " * (ZIP_SMALL_BYTES + 1))
    assert "unpacks to more than" in read_in_child(path, memory=MEMORY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "repeated", "message"),
    [
        (b"<kml><Placemark><name>", b"x" * 1000, "a value is longer than 1 MiB"),
        (b"a;b\n1;", "😀".encode() * 250, "is longer than 32 MiB"),
    ],
)
def test_what_has_no_end_takes_little_memory(
    tmp_path: Path, start: bytes, repeated: bytes, message: str
) -> None:
    path = tmp_path / "upload"
    with path.open("wb") as file:
        file.write(start)
        for _ in range(300):
            file.write(repeated * (1024 * 1024 // len(repeated)))
    assert message in read_in_child(path, memory=MEMORY)
    path.unlink()


@pytest.mark.trial
def test_a_large_placemark_takes_little_memory(tmp_path: Path) -> None:
    content = b"<Point><coordinates>" + b"1,2 " * 9_000_000 + b"</coordinates></Point>"
    path = tmp_path / "upload"
    path.write_bytes(b"<kml><Placemark>" + content + b"</Placemark></kml>")
    assert "a feature is larger than 32 MiB" in read_in_child(path, memory=MEMORY)


@pytest.mark.slow
def test_a_row_of_many_fields_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(b"a;b\n1" + b";" * 30_000_000)
    assert "more than 1,000,000 fields" in read_in_child(path, memory=MEMORY)


@pytest.mark.trial
def test_a_geometry_just_within_its_bound_takes_little_memory(tmp_path: Path) -> None:
    coordinates = b"1\n," * 11_000_000
    content = b"<Point><coordinates>" + coordinates + b"</coordinates></Point>"
    path = tmp_path / "upload"
    path.write_bytes(b"<kml><Placemark>" + content + b"</Placemark></kml>")
    assert read_in_child(path, memory=MEMORY) == "1"
