"""Reading GeoJSON files as a stream of features."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from app.projects.geojson_file import FileInvalid, read_features, scan_file
from tests.make import square
from tests.make.features import DISTRICTS, collection, feature


def read(content: bytes) -> list[tuple[int, Any]]:
    file = io.BytesIO(content)
    scan = scan_file(file)
    file.seek(0)
    return list(read_features(file, scan))


def test_features_come_in_order_with_their_numbers() -> None:
    first, second = feature(square(), name="a"), feature(None, name="b")
    assert read(collection(first, second)) == [(1, first), (2, second)]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda one, two: one + b"\n" + two + b"\n", id="newline-delimited"),
        pytest.param(lambda one, two: b"\x1e" + one + b"\n\x1e" + two + b"\n", id="RFC 8142"),
        pytest.param(lambda one, two: b"\xef\xbb\xbf" + one + two, id="byte order mark"),
    ],
)
def test_features_one_after_the_other(content: Any) -> None:
    first, second = feature(square(), name="a"), feature(None, name="b")
    written = content(json.dumps(first).encode(), json.dumps(second).encode())
    assert read(written) == [(1, first), (2, second)]


def test_coordinates_are_the_doubles_of_the_file() -> None:
    chosen = random.Random(7)
    texts = [f"{chosen.uniform(-180, 180):.{chosen.randint(0, 25)}f}" for _ in range(20_000)]
    texts += ["1e2", "-0.0", "1.7976931348623157e308", "5e-324", "0.1", "-122.65180000000001"]
    content = (
        '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,'
        f'"properties":{{"name":"n","numbers":[{",".join(texts)}]}}}}]}}'
    )
    ((_, one),) = read(content.encode())
    numbers = one["properties"]["numbers"]
    expected = [json.loads(text) for text in texts]
    assert [type(number) for number in numbers] == [type(number) for number in expected]
    assert [struct.pack("d", n) for n in numbers] == [struct.pack("d", n) for n in expected]


def test_memory_stays_flat() -> None:
    def megabytes(count: int) -> float:
        class Endless(io.RawIOBase):
            """A file that is made while it is read."""

            def __init__(self) -> None:
                self._parts = self._make()

            def _make(self) -> Iterator[bytes]:
                one = json.dumps(feature(square(), name="n", text="x" * 20_000)).encode()
                yield b'{"type":"FeatureCollection","features":['
                yield one
                for _ in range(count):
                    yield b"," + one
                yield b"]}"

            def read(self, size: int = -1) -> bytes:
                return b"" if size == 0 else next(self._parts, b"")

        tracemalloc.start()
        try:
            whole = scan_file(Endless())  # type: ignore[arg-type]
            features = sum(1 for _ in read_features(Endless(), whole))  # type: ignore[arg-type]
            assert features == count + 1
            return tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()

    assert megabytes(400) < 2 + megabytes(20)


def test_bytes_are_counted_on_the_way() -> None:
    content, counted = DISTRICTS.read_bytes(), []
    scan_file(io.BytesIO(content), counted.append)
    assert sum(counted) == len(content)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"[]", "no `type`"),
        (b'"FeatureCollection"', "no `type`"),
        (b'{"type":"Topology"}', "contains a Topology"),
        (b'{"type":7}', "contains a 7"),
        (collection() + b'{"type":"Feature"}', "mixes"),
        (collection()[:-1], "incomplete"),
        (b'{"type":"FeatureCollection","features":[Infinity]}', "near byte 50"),
        (b'{"type":"FeatureCollection","features":["\xff"]}', "near byte"),
        (b'{"type":"FeatureCollection","features":[1e999]}', "near byte"),
        (b'{"type":"FeatureCollection","features":' + b"[" * 100_000, "too deeply"),
        (collection(crs="EPSG:25832"), "a coordinate system other than WGS84"),
    ],
)
def test_a_file_that_cannot_be_used(content: bytes, told: str) -> None:
    with pytest.raises(FileInvalid, match=told):
        scan_file(io.BytesIO(content))


def test_the_coordinate_system_of_old_files_may_be_wgs84() -> None:
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert len(read(collection(feature(name="a"), crs=crs))) == 1


def test_a_file_that_breaks_after_its_survey() -> None:
    whole = scan_file(io.BytesIO(collection(feature(name="a"))))
    with pytest.raises(FileInvalid, match="incomplete"):
        list(read_features(io.BytesIO(collection(feature(name="a"))[:-2]), whole))
