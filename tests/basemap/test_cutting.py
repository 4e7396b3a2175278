"""Cutting an area out of a file: what comes out is what was in it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pmtiles.reader import MemorySource, Reader, all_tiles
from pmtiles.tile import Entry, TileType, serialize_directory, tileid_to_zxy

from app.basemap import cutting
from app.basemap.area import IdRanges, bounds_of, tile_ids, touched_tiles
from app.basemap.cutting import Cut, plan_cut, write_tiles
from app.basemap.own import OWN, UnusableMap, parse_header, parse_metadata
from app.basemap.sources import FileSource
from app.geometry.bounding_boxes import Bounds
from tests.basemap.planet import ATTRIBUTION, make_planet

FOREST = Bounds(22.9, 46.4, 23.0, 46.5)
AT_SEA = Bounds(179.9, -30, 180.1, -29.9)  # across the antimeridian


class Source(FileSource):
    """A file that counts how it is read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.parts: list[int] = []

    def read(self, offset: int, length: int) -> bytes:
        self.parts.append(length)
        return super().read(offset, length)


def _plan(source: FileSource, *boxes: Bounds, zoom: int = 14) -> tuple[Cut, IdRanges]:
    tiles = touched_tiles(boxes, zoom)
    ranges = tile_ids(tiles, zoom)
    return plan_cut(source, ranges, bounds_of(tiles, zoom), {}), ranges


def _made(source: FileSource, cut: Cut, tmp_path: Path) -> bytes:
    path = tmp_path / "made.pmtiles"
    with path.open("w+b") as file:
        file.write(cut.head)
        write_tiles(source, cut, file, len(cut.head), lambda _: None)
    return path.read_bytes()


def test_each_tile_is_that_of_the_source_and_there_are_no_others(
    planet: Path, tmp_path: Path
) -> None:
    source = Source(planet)
    cut, ranges = _plan(source, FOREST, AT_SEA)
    made = _made(source, cut, tmp_path)
    assert len(made) == cut.size
    whole = dict(all_tiles(MemorySource(planet.read_bytes())))
    wanted = {tileid_to_zxy(number) for pair in ranges for number in range(*pair)}
    found = dict(all_tiles(MemorySource(made)))
    assert found == {tile: whole[tile] for tile in wanted & whole.keys()}
    reader = Reader(MemorySource(made))
    assert all(reader.get(*tile) == data for tile, data in found.items())
    header = reader.header()
    assert header["addressed_tiles_count"] == len(found)
    assert header["tile_contents_count"] == len(set(found.values()))
    assert header["tile_entries_count"] < len(found)  # equal neighbors share one
    assert (header["min_zoom"], header["max_zoom"], header["clustered"]) == (0, 14, True)
    assert reader.metadata()["attribution"] == ATTRIBUTION
    assert reader.metadata()["canopy"]["source"] == str(planet)


def test_contents_are_in_the_order_of_their_first_tiles(planet: Path, tmp_path: Path) -> None:
    source = Source(planet)
    made = _made(source, _plan(source, AT_SEA, FOREST)[0], tmp_path)
    header = parse_header(made[:127])
    end = 0
    leaves = made[header["leaf_directory_offset"] :][: header["leaf_directory_length"]]
    root = made[127:][: header["root_length"]]
    for leaf in cutting.deserialize_directory(root):
        for entry in cutting.deserialize_directory(leaves[leaf.offset :][: leaf.length]):
            assert entry.offset <= end
            end = max(end, entry.offset + entry.length)
    assert end == header["tile_data_length"]


def test_a_source_is_read_in_few_parts(planet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(planet)
    cut, _ = _plan(source, FOREST)
    assert len(source.parts) < 12  # directories
    groups = list(cutting._grouped(cut.parts(0)))
    assert len(groups) < 12
    assert sum(len(group) for group in groups) == cut.header["tile_contents_count"] > 70
    monkeypatch.setattr(cutting, "_MOST", 5000)
    assert max(cutting._span(group)[1] for group in cutting._grouped(cut.parts(0))) <= 5000
    monkeypatch.setattr(cutting, "_GAP", 0)
    assert cut.to_load(0) == cut.header["tile_data_length"]


def test_a_file_is_completed_from_wherever_it_ends(planet: Path, tmp_path: Path) -> None:
    source = Source(planet)
    cut, _ = _plan(source, FOREST)
    whole = _made(source, cut, tmp_path)
    for done in (len(cut.head), len(cut.head) + 1, len(whole) // 2, len(whole) - 1, len(whole)):
        path = tmp_path / "begun.pmtiles"
        path.write_bytes(whole[:done])
        source.parts.clear()
        with path.open("r+b") as file:
            write_tiles(source, cut, file, done, lambda _: None)
        assert path.read_bytes() == whole
        assert sum(source.parts) == cut.to_load(done)
    assert cut.to_load(len(whole)) == 0


def test_the_root_directory_is_in_the_first_16_kilobytes(
    planet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "_LEAF", 1)
    monkeypatch.setattr(cutting, "_HEAD_BYTES", 800)
    planet = make_planet(tmp_path / "planet.pmtiles", leaf_size=500)
    source = Source(planet)
    cut, _ = _plan(source, FOREST)
    assert cut.header["metadata_offset"] <= 800
    assert dict(all_tiles(MemorySource(_made(source, cut, tmp_path))))


def test_files_that_are_no_map(planet: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    pictures = make_planet(tmp_path / "p.pmtiles", max_zoom=6, tile_type=TileType.PNG).read_bytes()
    streets = make_planet(tmp_path / "s.pmtiles", max_zoom=6, layer="streets").read_bytes()
    data = planet.read_bytes()
    old = data[:7] + b"\x02" + data[8:]
    end = parse_header(data[:127])["tile_data_offset"]

    def lead_to_itself(length: int) -> bytes:
        root = serialize_directory([Entry(0, 0, length, 0)])
        places = (127, len(root), 0, 0, 127, length)
        words = b"".join(number.to_bytes(8, "little") for number in places)
        return data[:8] + words + data[56:127] + root

    for content, message in {
        b"": "not a PMTiles file",
        b"<html>": "not a PMTiles file",
        b"PMTiles\x03": "not a PMTiles file",
        old: "old version",
        pictures: "tiles of the type png",
        streets: "other layers",
        lead_to_itself(25): "cannot be read .too deep",
        lead_to_itself(1 << 40): "cannot be read .too long",
        data[:97] + b"\x03" + data[98:]: "not compressed with gzip",
        data[:98] + b"\x03" + data[99:]: "browsers do not decompress",
        data[:24] + b"\xff" * 16 + data[40:]: "not a PMTiles file",
        data[:127] + b"x" * 500 + data[627:]: "cannot be read",
        data[: end - 500]: "cannot be read",
        data[: end + 5000]: "incomplete",
    }.items():
        path = tmp_path / "source"
        path.write_bytes(content)
        source = FileSource(path)
        with subtests.test(message), pytest.raises(UnusableMap, match=message):
            _made(source, _plan(source, FOREST)[0], tmp_path)
    assert parse_metadata(gzip.compress(b'{"vector_layers": 5}'))[OWN] == {}  # no list of layers
    with pytest.raises(UnusableMap, match="no tiles of this area"):
        plan_cut(FileSource(planet), [(1 << 40, 1 << 41)], FOREST, {})
