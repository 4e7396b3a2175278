"""Reading a file from a server: what is lost on the way, and what the server says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from app.basemap import sources
from app.basemap.sources import FileSource, ServerSource, SourceFailed
from app.values import clock
from tests.basemap.map_server import MapServer
from tests.outbound.receivers import Exchange, answering, closing_at_once, in_turn


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between two tries, which take no time."""
    made: list[float] = []
    monkeypatch.setattr(sources.time, "sleep", made.append)
    return made


@pytest.fixture
def source(server: MapServer, waits: list[float]) -> Iterator[ServerSource]:
    made = ServerSource(server.url("/planet.pmtiles?key=secret"), lambda _: None)
    with closing(made):
        yield made


def test_parts_come_over_one_connection(server: MapServer, source: ServerSource) -> None:
    size = len(server.data)
    assert source.read(0, 100) == server.data[:100]
    assert source.read(5000, 70_000) == server.data[5000:75_000]
    assert source.read(size - 5, 100) == server.data[-5:]
    assert server.connections == 1
    assert source.name == server.url("/planet.pmtiles")  # without the key
    assert server.requests[0].path == "/planet.pmtiles?key=secret"


def test_a_lost_connection_is_continued_where_it_broke_off(
    server: MapServer, source: ServerSource, waits: list[float]
) -> None:
    source.read(0, 100)
    server.budget = 200_000
    assert source.read(1000, 400_000) == server.data[1000:401_000]
    (_, first, second) = server.sent
    assert first == (1000, 201_000)
    assert 201_000 - 16_384 <= second[0] <= 201_000
    assert second[1] == 401_000
    assert waits == [1]


def test_a_server_that_is_busy_is_asked_again_when_it_says(
    server: MapServer, source: ServerSource, waits: list[float]
) -> None:
    soon = format_datetime(clock.now() + timedelta(seconds=100), usegmt=True)
    server.answer = in_turn(
        answering(503, headers={"Retry-After": "30"}),
        answering(429, headers={"Retry-After": soon}),
        answering(429, headers={"Retry-After": "tomorrow"}),
        answering(502, headers={"Retry-After": "99999"}),
        server.send_part,
    )
    assert source.read(0, 100) == server.data[:100]
    assert [round(wait, -1) for wait in waits] == [30, 100, 0, 900]


def test_it_gives_up_where_nothing_comes(
    server: MapServer, source: ServerSource, waits: list[float]
) -> None:
    source.read(0, 10)
    server.answer = closing_at_once()
    with pytest.raises(SourceFailed, match=r"connection closed .* run the same command again"):
        source.read(10, 10)
    assert waits == list(sources.WAITS)


def test_redirects_are_followed(server: MapServer, source: ServerSource) -> None:
    server.answer = in_turn(
        answering(302, headers={"Location": "/elsewhere"}),
        answering(307, headers={"Location": server.url("/there.pmtiles")}),
        server.send_part,
    )
    assert source.read(0, 100) == server.data[:100]
    assert server.requests[-1].path == "/there.pmtiles"
    server.answer = answering(302, headers={"Location": "/"})
    with pytest.raises(SourceFailed, match="redirected too often"):
        source.read(0, 100)


def test_what_a_server_may_not_do(
    server: MapServer, waits: list[float], subtests: pytest.Subtests
) -> None:
    def wrong_part(exchange: Exchange) -> bool:
        return answering(206, headers={"Content-Range": "bytes 7-8/100"})(exchange)

    part = {"Content-Range": "bytes 0-99/200"}
    for answer, message in (
        (answering(206, b"x" * 101, headers=part), "more or less than asked"),
        (answering(206, b"", headers=part), "more or less than asked"),
        (answering(200, b"x" * 1000), "does not send parts of a file"),
        (answering(404), "responds with 404"),
        (answering(206), "other parts"),
        (wrong_part, "other parts"),
        (closing_at_once(), "connection closed"),
    ):
        server.answer = answer
        with (
            subtests.test(message),
            closing(ServerSource(server.url(), lambda _: None)) as source,
            pytest.raises(SourceFailed, match=message),
        ):
            source.read(0, 100)
    assert waits == []  # nothing has come yet: the address may be wrong


def test_a_file_that_changes_meanwhile_is_noticed(
    server: MapServer, source: ServerSource, planet: Path, tmp_path: Path
) -> None:
    source.read(0, 100)
    server.tag = '"2"'
    with pytest.raises(SourceFailed, match="has changed meanwhile"):
        source.read(100, 100)
    path = tmp_path / "own.pmtiles"
    path.write_bytes(planet.read_bytes())
    file = FileSource(path)
    assert file.read(5, 7) == server.data[5:12]
    path.write_bytes(b"PMTiles")
    with pytest.raises(SourceFailed, match="has changed meanwhile"):
        file.read(5, 7)
    with pytest.raises(SourceFailed, match="No such file"):
        FileSource(tmp_path / "missing").read(0, 1)
