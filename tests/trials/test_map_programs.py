"""The programs from PyPI, on a layer of a few hundred features."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trials.clients import editing, libraries
from trials.clients.service import Layer
from trials.clients.service import layer as serve


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Layer]:
    folder = tmp_path_factory.mktemp("maps")
    with serve(folder, 120, REDIS_URL=valkey_url, LOG_LEVEL="info") as served:
        yield served


@pytest.mark.slow
def test_gdal_reads_every_feature(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "120 features" in libraries.check_gdal(layer)


@pytest.mark.slow
def test_gdal_sends_a_key_in_each_way(layer: Layer) -> None:
    assert libraries.check_gdal_credentials(layer)


def test_owslib_reads_and_edits(layer: Layer) -> None:
    assert libraries.check_owslib(layer)


@pytest.mark.slow
def test_the_requests_of_an_editing_qgis_work(layer: Layer) -> None:
    assert editing.check_editing(layer)
