"""Waiting for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

# Nothing takes as long, however busy the machine is: only what never comes fails.
PATIENCE: Final = 60  # seconds


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true result of ``condition``. Raises AssertionError if there is none for long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {condition}")
