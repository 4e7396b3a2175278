"""Imports in a browser without scripts, and the worker that does them."""

from __future__ import annotations

import io
import json
from typing import Any

from app.imports.jobs import run_imports
from tests.make import Browser
from tests.make.browser import Page
from tests.make.features import collection

CSV = b"name,x,y\nSpring,500000,5594000\n"


def work(browser: Browser) -> None:
    with browser.app.app_context():
        run_imports()


def upload(browser: Browser, content: bytes, name: str = "forests.geojson", **form: Any) -> Page:
    """Upload a file in the form; the page of the import, before it is read."""
    browser.get("/imports/new")
    file: Any = (io.BytesIO(content), name)
    return browser.submit(file=file, **form)


def read(browser: Browser, content: bytes, name: str = "forests.geojson", **form: Any) -> Page:
    """The page of an import of a file that was read."""
    page = upload(browser, content, name, **form)
    assert page.path.startswith("/imports/imp_"), page.text
    work(browser)
    return browser.get(page.path)


def ready(browser: Browser, *features: dict[str, Any], **form: Any) -> Page:
    """The page of an import of features that were read."""
    return read(browser, collection(*features), **form)


def act(browser: Browser, action: str, **fields: str) -> Page:
    """Press the button of an action on the page of an import, and have that done."""
    assert browser.page is not None
    path = browser.page.path.partition("?")[0]
    page = browser.submit(f"{path}/{action}", **fields)
    work(browser)
    return browser.get(path) if page.status == 200 and page.path == path else page


def shapes(browser: Browser, path: str) -> list[dict[str, Any]]:
    return [
        each["properties"] | {"type": each["geometry"]["type"]}
        for each in json.loads(browser.client.get(f"{path}/shapes").data)["features"]
    ]
