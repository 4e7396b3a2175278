"""Requests that are answered from boundaries as large as they may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from app.policy.bounds import PER_PAGE_MAX
from tests.geometry.drawing import polygon
from tests.geometry.expensive_shapes import Geometry, closed
from tests.make import Client, make_project
from trials.faults.heavy.request import Request

NUMBER: Final = 10  # of the projects; together they are longer than a page may be
_POSITIONS: Final = 99_000
_CODINGS: Final = ("identity", "gzip", "zstd")


def answers(client: Client) -> Iterator[Request]:
    """Pages and records in each coding; changes of the records, with and without a key."""
    boundary = _round()
    projects = [make_project(client, geometry=boundary) for _ in range(NUMBER)]
    path = f"/v1/projects/{projects[0]['id']}"
    for coding in _CODINGS:
        headers = client.authorization | {"Accept-Encoding": coding}
        for name, page in (
            ("projects", f"/v1/projects?per_page={PER_PAGE_MAX}"),
            ("events", f"/v1/events?per_page={PER_PAGE_MAX}"),
            ("project", path),
        ):
            what = f"GET {name} of {_POSITIONS:,} positions, {coding}"
            yield Request(what, "GET", page, bytes, headers)
    yield from _changes(client, path, boundary)


def _changes(client: Client, path: str, boundary: Geometry) -> Iterator[Request]:
    bodies: dict[str, Any] = {
        "the same boundary": {"name": "Wald", "geometry": boundary},
        "a name": {"name": "Forst"},
    }
    for name, body in bodies.items():
        what = f"PATCH a project of {_POSITIONS:,} positions: {name}"
        yield Request(what, "PATCH", path, partial(_json, body), client.authorization)
    for action in ("archive", "restore"):
        what = f"POST {action} of {_POSITIONS:,} positions"
        yield Request(what, "POST", f"{path}/{action}", bytes, client.authorization)
    headers = client.authorization | {"Idempotency-Key": "heavy"}
    create = partial(_json, {"name": "Made once", "geometry": boundary})
    for what in ("with a key", "with the same key"):
        name = f"POST /v1/projects {_POSITIONS:,} positions {what}"
        yield Request(name, "POST", "/v1/projects", create, headers)
    what = f"DELETE a project of {_POSITIONS:,} positions"
    yield Request(what, "DELETE", path, bytes, client.authorization)


def _round() -> Geometry:
    """A valid ring that looks like a real one, with heights and as many digits as there can be."""
    turns = np.linspace(0, 2 * np.pi, _POSITIONS - 1, endpoint=False)
    reach = 1 + 0.001 * np.random.default_rng(1).random(len(turns))
    heights = 1_000 / 3 + 100 * np.sin(turns)
    return polygon(closed(np.stack([reach * np.cos(turns), reach * np.sin(turns), heights], 1)))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
