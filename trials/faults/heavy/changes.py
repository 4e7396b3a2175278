"""Boundaries to create, replace and check, made by chance to be expensive."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from app.policy.bounds import DESCRIPTION_LENGTH, METADATA_KEYS
from tests.geometry.drawing import multipolygon
from tests.geometry.expensive_shapes import SHAPES, Geometry, with_nested_squares
from tests.make import Client, make_project
from trials.faults.heavy.request import Request

_POSITIONS: Final = 99_000
_FEWEST: Final = 500


def changes(client: Client, rng: random.Random) -> Iterator[Request]:
    """Requests without end, each with a boundary of up to three shapes, turned and moved."""
    path = f"/v1/projects/{make_project(client)['id']}"
    routes = (
        ("POST", "/v1/geometry/validate"),
        ("POST", "/v1/geometry/validate"),
        ("POST", "/v1/projects"),
        ("POST", "/ogc/collections/projects/items"),
        ("PUT", path),
        ("PATCH", path),
    )
    while True:
        method, address = rng.choice(routes)
        names, boundary = _boundary(rng)
        body: dict[str, Any] = {"geometry": boundary}
        if address != routes[0][1]:
            body |= {
                "name": f"By chance {rng.random()}",
                "description": rng.choice(("", "a" * DESCRIPTION_LENGTH, "ä " * 4_000)),
                "metadata": {f"k{number}": "b" * 250 for number in range(METADATA_KEYS)},
            }
        if address.startswith("/ogc"):
            body = {"type": "Feature", "geometry": body.pop("geometry"), "properties": body}
        text = json.dumps(body).encode()
        name = f"{method} {address} {names}"
        yield Request(name, method, address, lambda text=text: text, client.authorization)  # type: ignore[misc]


def _boundary(rng: random.Random) -> tuple[str, Geometry]:
    """A boundary, and what it is made of."""
    number = rng.choice((1, 1, 2, 3))
    most, names, parts = _POSITIONS // number, [], []
    for _ in range(number):
        size = int(_FEWEST * (most / _FEWEST) ** rng.random())
        shape = rng.choice(list(SHAPES))
        made = SHAPES[shape](size)
        if rng.random() < 0.2 and size > 2 * _FEWEST:
            made, shape = with_nested_squares(SHAPES[shape](size - _FEWEST)), f"{shape} with faults"
        names.append(f"{shape} {size:,}")
        whole = made["type"] == "MultiPolygon"
        parts += _moved(made["coordinates"] if whole else [made["coordinates"]], rng)
    name = " + ".join(names)
    return name, multipolygon(*parts)


def _moved(parts: list[Any], rng: random.Random) -> list[Any]:
    """Parts, as they are or turned by an angle, made smaller, moved, and rounded."""
    if rng.random() < 0.3:
        return parts
    angle, scale = rng.uniform(0, 2 * np.pi), 10 ** rng.uniform(-5, 0)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    there = np.array([rng.uniform(-30, 30), rng.uniform(-30, 30)])
    digits = rng.choice((5, 7, 15))
    return [
        [
            np.round(np.clip(np.asarray(ring)[:, :2] @ turn.T + there, -90, 90), digits).tolist()
            for ring in part
        ]
        for part in parts
    ]
