"""Imports through the API, and the worker that does them."""

from __future__ import annotations

import io
import json
from typing import Any

from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from app.imports.jobs import run_imports
from tests.jobs.due import run_if_due
from tests.make import Client
from tests.make.features import collection


def upload(
    client: Client, content: bytes, name: str = "forests.geojson", **form: Any
) -> TestResponse:
    """POST /v1/imports."""
    fields = {
        field: json.dumps(value) if isinstance(value, dict | bool) else value
        for field, value in form.items()
    }
    file = FileStorage(io.BytesIO(content), name)
    boundary, body = encode_multipart({"file": file, **fields})
    content_type = f"multipart/form-data; boundary={boundary}"
    return client.post("/v1/imports", data=body, content_type=content_type)


def work(client: Client) -> int:
    """Do what a worker does."""
    with client.app.app_context():
        return run_if_due(run_imports)


def uploaded(
    client: Client, content: bytes, name: str = "forests.geojson", **form: Any
) -> dict[str, Any]:
    """An import of a file that was read."""
    response = upload(client, content, name, **form)
    assert response.status_code == 202, response.json
    work(client)
    return read(client, response.json["data"]["id"])


def ready(client: Client, *features: dict[str, Any], **form: Any) -> dict[str, Any]:
    """An import of these features that was read."""
    return uploaded(client, collection(*features), **form)


def read(client: Client, import_id: str) -> dict[str, Any]:
    record: dict[str, Any] = client.get(f"/v1/imports/{import_id}").json["data"]
    return record


def answered(client: Client, record: dict[str, Any], **put: Any) -> dict[str, Any]:
    """An import whose questions were answered, read again."""
    response = client.put(f"/v1/imports/{record['id']}", json=put)
    assert response.status_code == 200, response.json
    work(client)
    return read(client, record["id"])


def act(client: Client, record: dict[str, Any], action: str) -> dict[str, Any]:
    """Apply, undo or cancel an import, and have that done."""
    response = client.post(f"/v1/imports/{record['id']}/{action}")
    assert response.status_code in (200, 202), response.json
    work(client)
    return read(client, record["id"])


def features_of(client: Client, record: dict[str, Any], **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(
        f"/v1/imports/{record['id']}/features", query_string=query
    ).json["data"]
    return found


def projects(client: Client) -> dict[str, dict[str, Any]]:
    """The account's projects by name."""
    return {one["name"]: one for one in client.get("/v1/projects?per_page=100").json["data"]}


def counts(record: dict[str, Any]) -> tuple[int, ...]:
    return tuple(record["counts"][name] for name in ("new", "changed", "same", "rejected"))


def codes(record: dict[str, Any]) -> list[str]:
    """Those of the questions of an import."""
    return [question["code"] for question in record["questions"]]
