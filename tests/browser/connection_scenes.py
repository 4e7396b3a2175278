"""The pages by which an account connects other systems, and what these use, in all their states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser

from tests.browser.application_scenes import registered
from tests.browser.audit_scenes import audit_log
from tests.browser.conftest import Instance, Visitor, sign_up
from tests.browser.credential_scenes import credentials
from tests.browser.forest_scenes import create
from tests.browser.usage_scenes import usage
from tests.browser.webhook_scenes import webhooks
from tests.make import new_email
from tests.make.geometry import square


def connection_scenes(
    chrome: Browser, instance: Instance, **options: Any
) -> Iterator[tuple[str, Visitor]]:
    """Yield each scene's name, and the visitor who sees it."""
    visitor = Visitor(chrome, instance, **options)
    try:
        sign_up(visitor, new_email())
        create(visitor, name="Hazel dell", geometry=json.dumps(square()))
        yield from credentials(visitor)
        yield from webhooks(visitor)
        yield from registered(visitor)
        yield from audit_log(visitor)
        yield from usage(visitor)  # beyond the limits of its plan
    finally:
        visitor.leave()
