"""What a change writes, in rows and bytes: ``.venv/bin/python -m bench.written``."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import orjson
from flask import Flask
from sqlalchemy import Connection, text

from app.audit.log import jobs, sealing
from app.db.connections import close_all
from app.db.extensions import db
from app.factory import create_app
from app.imports import waiting
from app.imports.jobs import run_imports
from app.usage.counters import counters
from bench.instance import make_instance, polygon
from config import load_settings

# Each table, with the column whose bytes are counted.
_TABLES: Final = {
    "events": "body",
    "audit_entries": "body",
    "boundaries": "geometry",
    "boundary_shapes": "geometry",
    "deliveries": "NULL",
}
_FEATURES: Final = 1_000
_WEBHOOKS: Final = 50
_TEXT: Final = "Lorem ipsum dolor sit amet. " * 350  # nearly as long as a description may be
_METADATA: Final = {f"note {number}": "x" * 300 for number in range(45)}


def main() -> None:
    """Print a table of changes on a new instance with SQLite."""
    sealing.SEALED_AFTER = timedelta(days=-1)  # type: ignore[misc]
    waiting.UNTRIED_DELIVERIES = 10**9  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        made = make_instance(Path(folder), projects=1)
        app = create_app(load_settings(made.environ))
        with app.app_context():
            _Changes(app, made.key).show_all(f"/v1/projects/{made.project_ids[0]}")
            close_all()


class _Changes:
    """Changes of one account, each shown with what it wrote."""

    def __init__(self, app: Flask, key: str) -> None:
        self._client = app.test_client()
        self._headers = {"Authorization": f"Bearer {key}"}
        self._account_id = str(self._send("GET", "/v1/account")["id"])
        self._places = 0
        self._imported = ""

    def show_all(self, path: str) -> None:
        columns = ("Change", *_TABLES, "history_bytes")
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        asset = {"name": "Gauge", "type": "equipment"}
        large = self._polygon(10_000)
        self._show("create a project of 51 positions", self._create)
        self._show("change its name", lambda: self._put(path, name="Another name"))
        self._show("its boundary", lambda: self._put(path, geometry=self._polygon(51)))
        self._show("to 10,000 positions", lambda: self._put(path, geometry=large))
        self._show("and back to 51", lambda: self._put(path, geometry=self._polygon(51)))
        self._show("its description", lambda: self._put(path, description=_TEXT))
        self._show("and again", lambda: self._put(path, description=_TEXT[1:]))
        self._show("create an asset", lambda: self._send("POST", f"{path}/assets", asset))
        self._show("archive the project", lambda: self._send("POST", f"{path}/archive"))
        self._show("delete it", lambda: self._send("DELETE", path))
        self._show_imports("")
        for number in range(_WEBHOOKS):
            webhook = {"url": f"https://93.184.216.34/{number}", "events": ["*"]}
            self._send("POST", "/v1/webhooks", webhook)
        self._show(f"create a project, {_WEBHOOKS} webhooks", self._create)
        self._show_imports(f", {_WEBHOOKS} webhooks")

    def _show_imports(self, note: str) -> None:
        self._show(f"import {_FEATURES:,} features{note}", self._import)
        self._show("undo that", self._undo)
        if not note:
            long = {"description": _TEXT, "metadata": _METADATA}
            self._show("import them with long texts", lambda: self._import(**long))
            self._show("undo that", self._undo)

    def _show(self, change: str, do: Callable[[], Any]) -> None:
        jobs.seal_audit_log()
        before, history = _sizes(), counters(self._account_id).history_bytes
        do()
        jobs.seal_audit_log()
        cells = [
            f"{rows - then[0]:,}, {size - then[1]:,}"
            for (rows, size), then in zip(_sizes(), before, strict=True)
        ]
        history = counters(self._account_id).history_bytes - history
        print(f"| {change} | {' | '.join(cells)} | {history:,} |", flush=True)

    def _polygon(self, positions: int) -> dict[str, object]:
        self._places += 1
        return polygon(positions, -120 + self._places % 1000 * 0.1, 40)

    def _create(self) -> None:
        body = {"name": f"Made {self._places}", "geometry": self._polygon(51)}
        self._send("POST", "/v1/projects", body)

    def _put(self, path: str, **values: object) -> None:
        self._send("PUT", path, values)

    def _import(self, **values: object) -> None:
        features = [
            {
                "type": "Feature",
                "geometry": self._polygon(51),
                "properties": {"name": f"Imported {self._places}", **values},
            }
            for _ in range(_FEATURES)
        ]
        raw = orjson.dumps({"type": "FeatureCollection", "features": features})
        form = {"file": (io.BytesIO(raw), "a.geojson")}
        made = self._client.post("/v1/imports", data=form, headers=self._headers).json["data"]
        run_imports()
        self._send("POST", f"/v1/imports/{made['id']}/apply")
        run_imports()
        done = self._send("GET", f"/v1/imports/{made['id']}")
        assert done["counts"]["new"] == _FEATURES, done
        self._imported = made["id"]

    def _undo(self) -> None:
        self._send("POST", f"/v1/imports/{self._imported}/undo")
        run_imports()

    def _send(self, method: str, path: str, body: object = None) -> Any:
        answer = self._client.open(path, method=method, json=body, headers=self._headers)
        assert answer.status_code < 300, answer.text
        return answer.json["data"] if answer.data else None


def _sizes() -> list[tuple[int, int]]:
    """The rows and bytes of each table."""
    with db.engine.connect() as connection:
        return [_size(connection, *each) for each in _TABLES.items()]


def _size(connection: Connection, table: str, column: str) -> tuple[int, int]:
    size = f"coalesce(sum(length(CAST({column} AS BLOB))), 0)"
    found = connection.execute(text(f"SELECT count(*), {size} FROM {table}")).one()
    return int(found[0]), int(found[1])


if __name__ == "__main__":
    main()
