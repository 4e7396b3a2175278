"""Archives as tests read them."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from tests.make import Client

PATH = "/v1/account/export"


class Archive:
    """A zip, opened."""

    def __init__(self, data: bytes) -> None:
        self.zip = zipfile.ZipFile(io.BytesIO(data))

    @property
    def names(self) -> list[str]:
        return self.zip.namelist()

    def text(self, name: str) -> str:
        return self.zip.read(name).decode()

    def json(self, name: str) -> Any:
        return json.loads(self.zip.read(name))

    def lines(self, name: str) -> list[Any]:
        return [json.loads(line) for line in self.zip.read(name).splitlines()]

    def features(self, name: str) -> list[Any]:
        found: list[Any] = self.json(name)["features"]
        return found


def archive_of(client: Client) -> Archive:
    """What the API gives."""
    response = client.get(PATH)
    assert response.status_code == 200, response.get_data(as_text=True)
    return Archive(response.get_data())
