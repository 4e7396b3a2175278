"""A running instance, from which the tools take the description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.api.server import gunicorn


class Instance(NamedTuple):
    """Where an instance is, and a key of its one account."""

    address: str
    key: str

    @property
    def document(self) -> str:
        return f"{self.address}/v1/openapi.json"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Instance]:
    folder: Path = tmp_path_factory.mktemp("served")
    with gunicorn(folder, REDIS_URL=valkey_url) as running:
        yield Instance(f"http://127.0.0.1:{running.port}", running.client.token)
