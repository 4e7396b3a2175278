"""A made-up map of the world, and a server that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.basemap.map_server import MapServer
from tests.basemap.planet import make_planet
from tests.maintenance.conftest import _spare, make_instance, sqlite
from tests.outbound.conftest import authority, certificate

__all__ = ["_spare", "authority", "certificate", "make_instance", "sqlite"]


@pytest.fixture(scope="session")
def planet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_planet(tmp_path_factory.mktemp("planet") / "planet.pmtiles")


@pytest.fixture
def server(certificate: Path, planet: Path) -> Iterator[MapServer]:
    with MapServer(certificate, planet) as made:
        yield made
