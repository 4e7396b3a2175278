"""What the service is compared with: Flask views that send bytes built beforehand."""

from __future__ import annotations

import os
from pathlib import Path

from flask import Flask, Response, request

app = Flask(__name__)
_ITEM = b'{"status":"ok"}'
_PAGE = Path(os.environ["BENCH_PAGE"]).read_bytes() if "BENCH_PAGE" in os.environ else b"[]"


@app.get("/healthz")
def alive() -> Response:
    return Response(_ITEM, content_type="application/json")


@app.get("/item")
def item() -> Response:
    """A constant JSON."""
    return Response(_ITEM, content_type="application/json")


@app.post("/item")
def create() -> Response:
    """A constant JSON, once the body is read."""
    request.get_data()
    return Response(_ITEM, status=201, content_type="application/json")


@app.get("/page")
def page() -> Response:
    """The bytes of a page of the service."""
    return Response(_PAGE, content_type="application/json")
