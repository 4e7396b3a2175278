"""``bin/canopy basemap``."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import orjson
import pytest
from flask import Flask
from pmtiles.reader import MemorySource, Reader, all_tiles

from app.basemap import cutting, sources
from app.basemap.own import FILE, parse_header
from app.cli import basemap
from app.policy.audit import INSTANCE
from config import ROOT, Settings
from tests.basemap.map_server import MapServer
from tests.basemap.planet import tile_at
from tests.cli.conftest import Run, runner
from tests.make import make_account, make_project, square
from tests.make.apps import second_app
from tests.make.audit import new_entries
from tests.outbound.receivers import Exchange
from tests.waiting import PATIENCE

PARTS = {"_MOST": 5000, "_GAP": 0}  # so that there are many
BOX = ("--box", "22.9,46.4,23.0,46.5")


@pytest.fixture
def run(sqlite: Flask) -> Run:
    return runner(sqlite)


@pytest.fixture
def folder(sqlite: Flask) -> Path:
    settings: Settings = sqlite.config["SETTINGS"]
    return settings.instance_path


def test_without_a_source_it_says_where_to_find_one(run: Run) -> None:
    result = run("basemap")
    assert result.exit_code == 2
    assert "https://maps.protomaps.com/builds" in result.stderr


def test_wrong_usage(run: Run, planet: Path, subtests: pytest.Subtests) -> None:
    source = ("--source", str(planet))
    for arguments, code, message in (
        ((*source, "--box", "1,2,3"), 2, "four numbers"),
        (("--source", "ftp://a.example/b"), 2, "Must begin with https://"),
        (source, 2, "No project has a boundary yet"),
        (("--source", str(ROOT / "README.md"), *BOX), 1, "README.md is not a PMTiles file."),
        (("--source", "https://127.0.0.1:1/x", *BOX), 1, "connection refused"),
        ((*source, *BOX, "--max-zoom", "16"), 2, "0<=x<=15"),
    ):
        with subtests.test(message):
            result = run("basemap", *arguments, "--yes")
            assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_around_the_projects_of_all_accounts(
    sqlite: Flask, run: Run, folder: Path, planet: Path
) -> None:
    clients = [make_account(sqlite) for _ in range(2)]
    make_project(clients[0], geometry=square(22.8, 46.3, size=0.001))
    make_project(clients[1], geometry=square(23.2, 46.6, size=0.001))
    with new_entries(clients[0], INSTANCE) as entries:
        result = run("basemap", "--source", str(planet), "--margin", "1", "--yes", "--json")
    (entry,) = entries
    assert entry["action"] == "instance.basemap_made"
    assert entry["changes"]["source"]["to"] == str(planet)
    record = orjson.loads(result.stdout)
    content = (folder / FILE).read_bytes()
    assert record["bytes"] == len(content)
    assert f"{len(content):,} bytes" in result.stderr
    tiles = dict(all_tiles(MemorySource(content)))
    assert record["tiles"] == len(tiles)
    whole = Reader(MemorySource(planet.read_bytes()))
    assert all(whole.get(*tile) == data for tile, data in tiles.items())
    for lon, lat, is_there in ((22.8, 46.3, True), (23.2, 46.6, True), (23.0, 46.45, False)):
        assert ((14, *tile_at(lon, lat, 14)) in tiles) is is_there


def test_it_asks_first(run: Run, folder: Path, planet: Path) -> None:
    result = run("basemap", "--source", str(planet), *BOX, input="n\n")
    assert result.exit_code == 1
    assert "74 tiles of zooms 0 to 14" in result.stderr
    assert not list(folder.glob("basemap*"))
    assert run("basemap", "--source", str(planet), *BOX, input="y\n").exit_code == 0
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600


def test_fewer_zooms_than_there_are_and_more(run: Run, planet: Path) -> None:
    few = run("basemap", "--source", str(planet), *BOX, "--max-zoom", "5", "--yes", "--json")
    assert orjson.loads(few.stdout)["max_zoom"] == 5
    many = run("basemap", "--source", str(planet), *BOX, "--max-zoom", "15", "--yes")
    assert "The source has no zoom above 14 there." in many.stderr


def test_a_disk_without_room(
    run: Run, folder: Path, planet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = basemap.shutil.disk_usage(folder)._replace(free=20_000)
    monkeypatch.setattr(basemap.shutil, "disk_usage", lambda _: usage)
    result = run("basemap", "--source", str(planet), *BOX, "--yes")
    assert (result.exit_code, "Only 0.0 MB are free" in result.stderr) == (1, True)
    assert not list(folder.glob("basemap*"))


def test_where_nothing_is_sent_no_server_is_asked(
    sqlite: Flask, server: MapServer, planet: Path
) -> None:
    with second_app(sqlite, outbound="off") as off:
        result = runner(off)("basemap", "--source", server.url(), *BOX, "--yes")
        assert (result.exit_code, "OUTBOUND=off" in result.stderr) == (1, True)
        assert server.requests == []
        assert runner(off)("basemap", "--source", str(planet), *BOX, "--yes").exit_code == 0


def test_what_was_cut_off_goes_on(
    run: Run, folder: Path, server: MapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "WAITS", ())
    for name, number in PARTS.items():
        monkeypatch.setattr(cutting, name, number)
    command = ("basemap", "--source", server.url(), *BOX, "--yes")
    assert run(*command).exit_code == 0
    former, needed = (folder / FILE).read_bytes(), server.tile_bytes
    server.sent.clear()
    server.tag = '"2"'
    server.budget = 20_000
    failed = run(*command)
    assert failed.exit_code == 1
    assert "To go on, run the same command again." in failed.stderr
    assert (folder / FILE).read_bytes() == former  # readers see no half
    assert run(*command).exit_code == 0
    assert needed <= server.tile_bytes <= needed + PARTS["_MOST"]
    assert _tiles(folder / FILE) == dict(all_tiles(MemorySource(former)))
    server.tag, server.budget = '"3"', 20_000
    assert run(*command).exit_code == 1
    server.tag = '"4"'  # another file by now: what was loaded of the former is of no use
    server.sent.clear()
    again = run(*command)
    assert "There already" not in again.stderr
    assert server.tile_bytes == needed
    assert [path.name for path in folder.glob("basemap*")] == [FILE]


def test_a_command_that_is_killed_goes_on(
    run: Run, folder: Path, server: MapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in PARTS.items():
        monkeypatch.setattr(cutting, name, number)
    blocked = threading.Event()
    many = iter(range(100))

    def block(exchange: Exchange) -> bool:
        if next(many) < 12:
            return server.send_part(exchange)
        blocked.set()
        exchange.receiver.pause(300)
        return False

    server.answer = block
    command = ["basemap", "--source", server.url(), *BOX, "--yes"]
    program = f"""
from app.basemap import cutting
from app.cli import main
vars(cutting).update({PARTS})
main({command})
"""
    environment = os.environ | {"INSTANCE_PATH": str(folder), "LOG_LEVEL": "error"}
    with subprocess.Popen([sys.executable, "-c", program], env=environment, cwd=ROOT) as process:
        assert blocked.wait(PATIENCE)
        busy = run(*command)
        assert "Another basemap command is running" in busy.stderr
        process.kill()
    assert server.tile_bytes > 0
    server.answer = server.send_part
    result = run(*command)
    assert "There already" in result.stderr
    assert result.exit_code == 0
    assert server.tile_bytes == parse_header((folder / FILE).read_bytes())["tile_data_length"]
    assert len(_tiles(folder / FILE)) == 74


def _tiles(path: Path) -> dict[tuple[int, int, int], bytes]:
    return dict(all_tiles(MemorySource(path.read_bytes())))
