"""Flask-Limiter, reduced to one count before each request and nothing after it.

Its undocumented names are those of the version below, which requirements.in pins;
``tests/limits/test_library.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flask import Flask
from flask_limiter import Limiter
from flask_limiter._limits import RuntimeLimit
from flask_limiter._manager import LimitManager
from limits import RateLimitItem, RateLimitItemPerMinute

FLASK_LIMITER_VERSION: Final = "4.1.1"
_EXTENSION: Final = "limiter"


class SingleLimiter(Limiter):
    """Flask-Limiter with at most one limit for each request, which ``request_limit`` returns.

    The library would search limits of the application, the blueprint and the route, and count each,
    which takes 80 µs (docs/adr/0009-limits.md). Its functions after a request take another 20 to
    30 µs without an effect here.
    """

    def request_limit(self) -> RateLimitItem | None:
        """The limit of the current request, or None."""
        raise NotImplementedError

    def declared_limits(self, app: Flask, endpoint: str) -> Sequence[str]:
        """Descriptions of an endpoint's limits, for ``flask limiter limits``."""
        raise NotImplementedError

    def init_app(self, app: Flask) -> None:
        """Count each request of ``app`` from here on."""
        self.limit_manager = _DeclaredLimits(self)
        # The library adds its three functions unless the application has this limiter already.
        app.extensions.setdefault(_EXTENSION, set()).add(self)
        super().init_app(app)
        app.before_request(self._check_request_limit)

    def _check_request_limit(
        self, callable_name: str | None = None, in_middleware: bool = True
    ) -> None:
        """Count the request. The strategy stores the result; ``refuse_rejected`` raises the
        error."""
        limit = self.request_limit()
        if limit is not None:
            self.limiter.hit(limit)


class _DeclaredLimits(LimitManager):
    """The limits that the commands of Flask-Limiter show. Requests are not checked with these."""

    def __init__(self, limiter: SingleLimiter) -> None:
        super().__init__([], [], {}, {}, {}, {})
        self._limiter = limiter

    def resolve_limits(
        self, app: Flask, endpoint: str | None = None, *_: Any, **__: Any
    ) -> tuple[list[RuntimeLimit], ...]:
        declared = self._limiter.declared_limits(app, endpoint or "")
        key_func = self._limiter._key_func
        return [], [RuntimeLimit(_InWords(words), key_func, scope=None) for words in declared]


class _InWords(RateLimitItemPerMinute):
    """A limit that is printed as a given text."""

    __slots__ = ("words",)

    def __init__(self, words: str) -> None:
        super().__init__(1)
        self.words = words

    def __repr__(self) -> str:
        return self.words
