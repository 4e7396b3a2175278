"""A refused request leaves nothing behind that only the garbage collector would find."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest
from werkzeug.test import create_environ, run_wsgi_app

from tests.make import Client

LARGE = "x" * 1_000_000
CROSSED = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


def _post(client: Client, path: str, body: Any) -> int:
    """Without the tests' client, which keeps what it sends."""
    environ = create_environ(path, method="POST", json=body)
    environ["HTTP_AUTHORIZATION"] = f"Bearer {client.token}"
    _, status, _ = run_wsgi_app(client.app, environ, buffered=True)
    return int(status.split()[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/projects", {"name": "A", "unknown": LARGE}, 422),
        ("/v1/projects", {"name": "A", "geometry": CROSSED | {"more": LARGE}}, 422),
        ("/v1/geometry/validate", {"geometry": CROSSED | {"more": LARGE}}, 200),
    ],
)
def test_its_body_is_gone(client: Client, path: str, body: dict[str, Any], status: int) -> None:
    assert _post(client, path, body) == status
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(4):
            _post(client, path, body)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < len(LARGE)
