"""What an import of Canopy says of a file, without applying it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from app.processes import embedded
from config import load_settings
from tests.imports.making import features_of, read, upload, work
from tests.make import Client
from tests.make.accounts import make_account
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.resources import make_project

_PAGE: Final = 100
_MOST: Final = 1000  # features that are looked at one by one
_ENDS: Final = ("ready", "failed")


@dataclass(frozen=True, slots=True)
class Imported:
    """The record of an import and its first features; ``error`` instead if it was not accepted."""

    record: dict[str, Any] = field(default_factory=dict)
    features: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None


class Importer:
    """An account into which files are imported."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._project_id = make_project(client)["id"]

    def read(self, path: Path, kind: str) -> Imported:
        """Read a file as an import does, and forget it."""
        form = {"kind": "assets", "project_id": self._project_id} if kind == "assets" else {}
        response = upload(self._client, path.read_bytes(), path.name, **form)
        if response.status_code != 202:
            return Imported(error=f"{response.status_code}: {response.json['error']['message']}")
        work(self._client)
        record = read(self._client, response.json["data"]["id"])
        assert record["status"] in _ENDS, record["status"]
        found = list(self._features(record)) if record["status"] == "ready" else []
        self._client.post(f"/v1/imports/{record['id']}/cancel")
        return Imported(record, found)

    def _features(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for page in range(1, 1 + _MOST // _PAGE):
            found = features_of(self._client, record, page=str(page), per_page=str(_PAGE))
            yield from found
            if len(found) < _PAGE:
                return


@contextmanager
def importer(folder: Path) -> Iterator[Importer]:
    """An instance in a folder, which ends with it."""
    folder.chmod(0o755)
    valkey = embedded.ensure(folder / "valkey")
    environ = {"INSTANCE_PATH": str(folder / "instance"), "LOG_LEVEL": "error"}
    environ |= {"RATE_LIMIT_DISABLED": "true", "REDIS_URL": valkey} | CHEAP_PASSWORDS
    app = create_app(load_settings(environ))
    try:
        with app.app_context():
            upgrade()
        yield Importer(make_account(app))
    finally:
        with app.app_context():
            close_all()
        embedded.release(folder / "valkey")
