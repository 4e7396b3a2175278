"""The guides that set-up has made, as a stranger reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser

from tests.browser.conftest import Instance, Visitor
from tests.node import skip


def guide_scenes(
    chrome: Browser, instance: Instance, **options: Any
) -> Iterator[tuple[str, Visitor]]:
    """Yield each scene's name, and the visitor who sees it."""
    visitor = Visitor(chrome, instance, **options)
    try:
        if not visitor.go("/docs/guides").get_by_role("heading", name="Guides").count():
            skip("bin/test makes the guides")
        links = visitor.page.locator("main > ul a")
        paths = [links.nth(place).get_attribute("href") for place in range(links.count())]
        yield "guides", visitor
        for path in paths:
            assert path
            visitor.go(path)
            yield f"guide {path.rpartition('/')[2]}", visitor
    finally:
        visitor.leave()
