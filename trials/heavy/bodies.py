"""The most expensive bodies for every operation of the OpenAPI description.

Each value of a body is replaced in turn by those that are expensive to parse or to check, and a
boundary by those that are expensive to validate.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import getitem
from typing import Any, Final

import numpy as np

from app.policy.bounds import DESCRIPTION_LENGTH, METADATA_KEYS
from tests.api.operations import Operation, body_properties, example_body, fill, operations
from tests.geometry.drawing import multipolygon, placed
from tests.geometry.expensive_shapes import SHAPES, Geometry, with_nested_squares
from tests.geometry.sizes import largest
from tests.make import Client, make_project
from trials.heavy.request import Request, Value
from trials.heavy.values import (
    ANYTHING,
    BODIES,
    LISTS,
    NUMBERS,
    OBJECTS,
    STRINGS,
)

POSITIONS: Final = 99_000
_OF_KIND: Final = {"string": STRINGS, "array": LISTS, "object": OBJECTS, "number": NUMBERS}
_VALID: Final = ("antipodes", "comb", "slivers", "tiny_squares")  # of POSITIONS
_FEWEST: Final = 500
_MARK: Final = "@value@"
_EMAIL: Final = {"email": "jo@example.org"}
_SLUG: Final = {"slug": "brice-creek"}
_WEB: Final = {
    "/api/auth/check-email": _EMAIL,
    "/api/onboarding/validate-email": _EMAIL,
    "/api/onboarding/validate-slug": _SLUG,
    "/api/projects/validate-slug": _SLUG,
    "/api/chat": {"message": "a", "history": [{"role": "user", "content": "a"}]},
}


def bodies(client: Client, shapes: Mapping[str, int]) -> Iterator[Request]:
    """Every body. ``shapes``: those of boundaries, with as many positions as each may have."""
    for operation in operations():
        if operation.method in ("POST", "PUT"):  # PATCH is the same as PUT
            yield from _of_operation(client, operation, shapes)
    yield from _of_web(client, shapes)


def shape_sizes(names: tuple[str, ...] = tuple(SHAPES)) -> dict[str, int]:
    """As many positions as a boundary of each shape may have."""
    return {name: largest(name, POSITIONS) for name in names}


def _of_operation(
    client: Client, operation: Operation, shapes: Mapping[str, int]
) -> Iterator[Request]:
    path = operation.path(fill(client, operation))
    for name, body in _bodies(example_body(operation) or {}, body_properties(operation), shapes):
        name = f"{operation.name} {name}"
        yield Request(name, operation.method, path, body, client.authorization)


def _of_web(client: Client, shapes: Mapping[str, int]) -> Iterator[Request]:
    """Of each route of /api that takes a body without a signature."""
    for path, example in _WEB.items():
        headers = client.authorization if path == "/api/chat" else {}
        for name, body in _bodies(example, {}, shapes):
            yield Request(f"POST {path} {name}", "POST", path, body, headers)


def _bodies(
    example: Any, properties: Mapping[str, Any], shapes: Mapping[str, int]
) -> Iterator[tuple[str, Value]]:
    """Each body as a whole; and an example with each of its values, or properties, replaced."""
    yield from BODIES.items()
    kinds = {path: _kind(reduce(getitem, path, example)) for path in _paths(example)}
    kinds |= {(name,): _described_kind(about) for name, about in properties.items()}
    values = _OF_KIND | {"boundary": STRINGS | LISTS | OBJECTS | _boundaries(shapes)}
    for path, kind in kinds.items():
        template = json.dumps(_with(example, path, _MARK)).encode()
        for name, value in (ANYTHING | values[kind]).items():
            yield f"{'.'.join(map(str, path))} = {name}", partial(_put, template, value)


def _kind(value: Any) -> str:
    """What a value of an example is, as JSON Schema names it."""
    if isinstance(value, dict) and value.get("type") in ("Polygon", "MultiPolygon"):
        return "boundary"
    kinds: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def _described_kind(about: Mapping[str, Any]) -> str:
    """What a property is by its description."""
    text = json.dumps(about)
    if "schemas/Polygon" in text:
        return "boundary"
    return next((kind for kind in ("array", "object", "string") if f'"{kind}"' in text), "number")


def _paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The keys that lead to each value in a body; into no boundary."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (key,)
        if isinstance(inner, dict | list) and _kind(inner) != "boundary":
            yield from ((key, *more) for more in _paths(inner))


def _with(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """A copy of a body with another value there."""
    key, *more = path
    copy = value.copy()
    copy[key] = _with(copy[key], more, new) if more else new
    return copy


def _put(template: bytes, value: Value) -> bytes:
    return template.replace(f'"{_MARK}"'.encode(), value())


def _boundaries(shapes: Mapping[str, int]) -> dict[str, Value]:
    """Boundaries as large as a request may have, as large as they may be validated, and faulty; and
    valid ones over a continent, where they are compared with its countries."""
    made: dict[str, Value] = {}
    for name, size in shapes.items():
        made[f"{name}, {POSITIONS:,} positions"] = partial(_boundary, name, POSITIONS)
        made[f"{name}, {size:,} positions"] = partial(_boundary, name, size)
        made[f"{name}, {size:,} positions and faults"] = partial(_faulty, name, size)
        if name in _VALID:
            made[f"{name} over a continent, {POSITIONS:,} positions"] = partial(_continent, name)
    return made


def _boundary(name: str, size: int) -> bytes:
    return json.dumps(SHAPES[name](size)).encode()


def _continent(name: str) -> bytes:
    return json.dumps(placed(SHAPES[name](POSITIONS), 10, 40, 80)).encode()


def _faulty(name: str, size: int) -> bytes:
    return json.dumps(with_nested_squares(SHAPES[name](size - 500))).encode()


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
        names, boundary = _by_chance(rng)
        body: dict[str, Any] = {"geometry": boundary}
        if address != routes[0][1]:
            body |= {
                "name": f"By chance {rng.random()}",
                "description": rng.choice(("", "a" * DESCRIPTION_LENGTH)),
                "metadata": {f"k{number}": "b" * 250 for number in range(METADATA_KEYS)},
            }
        if address.startswith("/ogc"):
            body = {"type": "Feature", "geometry": body.pop("geometry"), "properties": body}
        text = json.dumps(body).encode()
        name = f"{method} {address} {names}"
        yield Request(name, method, address, lambda text=text: text, client.authorization)  # type: ignore[misc]


def _by_chance(rng: random.Random) -> tuple[str, Geometry]:
    """A boundary, and what it is made of."""
    number = rng.choice((1, 1, 2, 3))
    most, names, parts = POSITIONS // number, [], []
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
