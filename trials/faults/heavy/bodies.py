"""The most expensive bodies for every operation there is.

An operation of /v1 is found in the OpenAPI description, a route of /api in the URL map. Each value
of its body is replaced in turn by those that are expensive to parse or to check, and a boundary by
those that are expensive to validate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import getitem
from typing import Any, Final

from tests.account.billing.sending import event, stripe_event, subscription
from tests.api.operations import (
    Operation,
    bare_app,
    body_properties,
    example_body,
    fill,
    operations,
)
from tests.geometry.drawing import placed
from tests.geometry.expensive_shapes import SHAPES, with_nested_squares
from tests.geometry.sizes import largest
from tests.make import Client, make_project
from trials.faults.heavy.request import Request, Value
from trials.faults.heavy.values import (
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
_MARK: Final = "@value@"
_EMAIL: Final = {"email": "jo@example.org"}
_SLUG: Final = {"slug": "brice-creek"}


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
    """Of each route of /api. One that is missing in ``web_examples`` raises KeyError."""
    examples = web_examples(client)
    for path in web_routes():
        example, secret = examples[path]
        headers = client.authorization if path == "/api/chat" else {}
        for name, body in _bodies(example, {}, shapes):
            yield Request(f"POST {path} {name}", "POST", path, body, headers, secret=secret)


def web_routes() -> list[str]:
    """The routes of /api that take a body."""
    rules = bare_app().url_map.iter_rules()
    return sorted(
        rule.rule
        for rule in rules
        if rule.rule.startswith("/api/") and "POST" in (rule.methods or ())
    )


def web_examples(client: Client) -> dict[str, tuple[Any, str]]:
    """A body for each route of /api, and the setting with which it is signed."""
    project = make_project(client)
    row = {"id": project["id"], "name": "A", "geometry": "{}", "metadata": "{}"}
    invoiced = event(client, "invoice.paid", plan="pro", status="x", current_period_end=None)
    subscribed = stripe_event("customer.subscription.updated", subscription(client.account_id))
    change = {"type": "UPDATE", "table": "projects", "record": row, "old_record": row}
    return {
        "/api/auth/check-email": (_EMAIL, ""),
        "/api/onboarding/validate-email": (_EMAIL, ""),
        "/api/onboarding/validate-slug": (_SLUG, ""),
        "/api/projects/validate-slug": (_SLUG, ""),
        "/api/chat": ({"message": "a", "history": [{"role": "user", "content": "a"}]}, ""),
        "/api/billing/webhook": (invoiced, "BILLING_WEBHOOK_SECRET"),
        "/api/billing/payment-provider-webhook": (subscribed, "PAYMENT_PROVIDER_WEBHOOK_SECRET"),
        "/api/db/webhook": (change, "DB_WEBHOOK_SECRET"),
    }


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
