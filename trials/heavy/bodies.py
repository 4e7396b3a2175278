"""Bodies that are expensive to parse or to check, for every operation of the OpenAPI description;
and boundaries that are expensive to validate."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from app.policy.request_limits import (
    BODY_CONTAINERS,
    BODY_ESCAPES,
    BODY_STRINGS,
    BODY_VALUES,
    DESCRIPTION_LENGTH,
    METADATA_KEYS,
)
from tests.api.operations import body_properties, example_body, fill, operations
from tests.geometry.drawing import multipolygon, placed
from tests.geometry.expensive_shapes import SHAPES, Geometry, with_nested_squares
from tests.geometry.sizes import largest
from tests.make import Client, make_project
from trials.heavy.request import Request, Value, filled

POSITIONS: Final = 99_000
SIZE: Final = 16 * 1024 * 1024  # bytes
_ROOM: Final = 1024  # for the rest of a body, in bytes and in values
_NUMBERS: Final = BODY_VALUES - _ROOM
_ARRAYS: Final = BODY_CONTAINERS - _ROOM
_TEXTS: Final = BODY_STRINGS - _ROOM
_MARKS: Final = "\u0301\u0316"
_FEWEST: Final = 500
_MARK: Final = "@value@"
_VALID: Final = ("antipodes", "comb", "slivers", "tiny_squares")  # of POSITIONS


def _filled(before: bytes, piece: bytes, after: bytes = b"", most: int = SIZE) -> Value:
    return partial(filled, before, piece, after, most, size=SIZE - _ROOM)


def _names() -> bytes:
    return b'{"x":0' + b"".join(b',"\\u0078%d":0' % number for number in range(_TEXTS)) + b"}"


# What each property of a body is replaced by: 16 MB, within the other bounds or far beyond one.
_VALUES: Final[dict[str, Value]] = {
    "text": _filled(b'"', b"x", b'"'),
    "marks": _filled(b'"a', _MARKS.encode(), b'"'),
    "escapes": _filled(b'"', rb"\u00e9", b'"', BODY_ESCAPES - _ROOM),
    "marks of a description": partial(
        json.dumps(("a" + _MARKS * 15) * (DESCRIPTION_LENGTH // 31)).encode
    ),
    "integers": _filled(b"[", b"1234567890123456789,", b"1]", _NUMBERS),
    "texts": _filled(b"[", b'"*",', b'"*"]', _TEXTS),
    "arrays": _filled(b"[", b"[1],", b"[]]", _ARRAYS),
    "objects": _filled(b"[", b'{"":1},', b"{}]", _TEXTS),
    "names": _names,
    "digits": _filled(b"", b"9"),
}
# What a body as a whole can be besides.
_WHOLE: Final[dict[str, Value]] = {
    "spaces": _filled(b"{}", b" "),
    "four-byte text": _filled(b'"', "🌲".encode(), b'"'),
    "backslashes": _filled(b'"', rb"\\", b'"', BODY_ESCAPES // 2 - _ROOM),
    "numbers": _filled(b"[", b"0.12345678901234567890,", b"1]", _NUMBERS),
    "deep": _filled(b"[", b"["),
    "nested": lambda: b'{"a":' * 250 + b"1" + b"}" * 250,
    "long names": lambda: b'{"%b":1,"%b":1}' % (b"x" * (SIZE // 2), b"y" * (SIZE // 3)),
    "exponent": _filled(b"1e", b"9"),
    "not UTF-8": _filled(b'{"a":"', b"\xff"),
    "cut off": _filled(b'{"a":[', b"0.5,", b"", _NUMBERS),
    "a name twice": _filled(b'{"b":1,"b":[', b"[1],", b"[]]}", _ARRAYS),
}


def bodies(client: Client, names: tuple[str, ...] = tuple(SHAPES)) -> Iterator[Request]:
    """Each body as a whole, and an example with each of its properties replaced.

    Args:
        names: the shapes of boundaries.
    """
    boundaries = _boundaries(names)
    for operation in operations():
        if operation.method not in ("POST", "PUT"):  # PATCH is the same as PUT
            continue
        path, example = operation.path(fill(client, operation)), example_body(operation) or {}
        values = {f"= {name}": value for name, value in (_WHOLE | _VALUES).items()}
        for field in {**body_properties(operation), **example}:
            template = json.dumps({**example, field: _MARK}).encode()
            chosen = _VALUES | (boundaries if field == "geometry" else {})
            for name, value in chosen.items():
                values[f"{field} = {name}"] = partial(_put, template, value)
        for name, value in values.items():
            what = f"{operation.name} {name}"
            yield Request(what, operation.method, path, value, client.authorization)


def _put(template: bytes, value: Value) -> bytes:
    return template.replace(f'"{_MARK}"'.encode(), value())


def _boundaries(names: tuple[str, ...]) -> dict[str, Value]:
    """Boundaries as large as a request may have, as large as they may be validated, and faulty; and
    valid ones over a continent, where they are compared with its countries."""
    made: dict[str, Value] = {}
    for name in names:
        size = largest(name, POSITIONS)
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
