"""Flask as this service uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask


class SynchronousFlask(Flask):
    """Flask without coroutines. It would look at each function of a request before it calls it,
    whether that is one, which takes longer than most of them do."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func
