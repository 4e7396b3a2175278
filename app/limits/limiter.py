"""Choosing the limit of the current request, and applying it with Flask-Limiter.

A request has one limit: the plan's two windows with a valid credential on /v1 or /ogc, a window of
the client's address without one, or the tier of a route of the web application.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any, Final

from flask import Flask, Response, g, request
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.strategies import STRATEGIES, FixedWindowRateLimiter
from werkzeug.routing import Rule

from app.auth.guard import current_principal, has_credential
from app.auth.principal import Principal
from app.http.errors import RateLimited
from app.http.urls import is_ogc
from app.limits.library import SingleLimiter
from app.limits.plan_file import plan_of
from app.limits.storage import SCHEME, WindowKey, WindowStorage
from app.limits.windows import LimitResult
from app.policy.rate_limits import (
    AREAS,
    CLIENT_POSTS,
    FORM_POSTS,
    FORMS,
    IPV6_NETWORK_BITS,
    LONG_FORM_POSTS,
    LONG_FORMS,
    OGC_PER_MINUTE,
    ROUTES,
    WINDOW_SECONDS,
    WITHOUT_CREDENTIAL,
    Limit,
    PlanLimit,
)
from app.settings.current import current_settings
from app.values.text import pluralize

_RESULT: Final = "rate_limit"
_UNKNOWN: Final = "unknown"  # a client whose address the proxy does not send


class RateLimit(RateLimitItemPerMinute):
    """The limit of one request."""

    kind = "client"  # for the metrics; or plan

    def __init__(self, amount: int) -> None:
        super().__init__(amount, namespace="canopy")

    def hit(self, storage: WindowStorage) -> LimitResult | None:
        """Count the request. Returns None if Valkey fails."""
        raise NotImplementedError

    def rejection(self, result: LimitResult) -> str:
        """The message to a client over the limit."""
        raise NotImplementedError


class PlanRateLimit(RateLimit):
    """The two windows of an account's plan, which its credentials share: the minute, with a
    separate one for OGC API Features, and the day.

    The windows belong to the account, so that another plan does not begin new ones.
    """

    kind = "plan"
    __slots__ = ("account_id", "credential", "per_day", "per_minute", "plan", "window")

    def __init__(
        self, principal: Principal, per_minute: int | None, per_day: int | None, window: str
    ) -> None:
        super().__init__(per_minute or per_day or 0)
        self.account_id, self.credential = principal.account_id, principal.counted_as
        self.plan = principal.plan
        self.per_minute, self.per_day, self.window = per_minute, per_day, window

    def hit(self, storage: WindowStorage) -> LimitResult | None:
        return storage.hit_account(
            self.account_id, self.credential, self.per_minute, self.per_day, self.window
        )

    def rejection(self, result: LimitResult) -> str:
        window = result.tightest
        assert window is not None
        wait = pluralize(result.retry_after(), "second")
        return (
            f"The plan {self.plan} allows {window.limit:,} requests a {window.name}, counted over "
            f"all credentials of the account. Try again in {wait}."
        )


class ClientRateLimit(RateLimit):
    """One window of a client's address."""

    __slots__ = ("limit", "prefix")

    def __init__(self, limit: Limit, prefix: str) -> None:
        super().__init__(limit.requests)
        self.limit, self.prefix = limit, prefix

    def hit(self, storage: WindowStorage) -> LimitResult | None:
        return storage.hit_windows((window_of(self.limit, current_client()),))

    def rejection(self, result: LimitResult) -> str:
        wait = pluralize(result.retry_after(), "second")
        return (
            f"{self.prefix} {self.amount} {self.limit.what} in {WINDOW_SECONDS} seconds from one "
            f"client address. Try again in {wait}."
        )


class FixedWindowStrategy(FixedWindowRateLimiter):
    """The library's strategy of fixed windows, for limits with several of them."""

    storage: WindowStorage

    def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        assert isinstance(item, RateLimit)
        result = item.hit(self.storage)
        if result is not None:
            setattr(g, _RESULT, (result, item))
        return result is None or result.allowed


class RequestLimiter(SingleLimiter):
    """The limit of the current request, as ``_current_limit`` chooses it."""

    def request_limit(self) -> RateLimit | None:
        return _current_limit()

    def declared_limits(self, app: Flask, endpoint: str) -> list[str]:
        view = app.view_functions[endpoint]
        rules = app.url_map.iter_rules(endpoint)
        return list(dict.fromkeys(str(limit) for rule in rules for limit in limits_of(rule, view)))


STRATEGIES[SCHEME] = FixedWindowStrategy


def init_app(app: Flask) -> None:
    """Count each request from here on, after ``identify_caller``."""
    RequestLimiter(
        current_client,
        app=app,
        storage_uri=f"{SCHEME}://",
        strategy=SCHEME,
        headers_enabled=False,  # they would show one window, and Retry-After always
    )
    app.after_request(_add_limit_headers)


def refuse_rejected() -> None:
    """Raise RateLimited if the current request was counted and is over its limit."""
    if _RESULT not in g:
        return
    result, limit = getattr(g, _RESULT)
    if not result.allowed:
        headers = {"Retry-After": str(result.retry_after())}
        raise RateLimited(limit.rejection(result), headers=headers)


def enforce_limit(limit: RateLimit) -> None:
    """Apply a limit to the current request, besides the one before its route. Raises
    RateLimited."""
    if current_settings().rate_limit_disabled:
        return
    result = limit.hit(WindowStorage())
    if result is None:
        return
    if not result.allowed or _RESULT not in g:
        setattr(g, _RESULT, (result, limit))
    refuse_rejected()


def kind_of_limit() -> str | None:
    """The kind of limit that applied to this request, for the metrics."""
    applied = g.get(_RESULT)
    return None if applied is None else applied[1].kind


def _add_limit_headers(response: Response) -> Response:
    applied: tuple[LimitResult, Any] | None = g.get(_RESULT)
    if applied is not None and not _is_hidden(applied[1]):
        response.headers.extend(applied[0].headers())
    return response


def _is_hidden(limit: RateLimit) -> bool:
    """True if the headers are left out: an invalid credential on an unknown path is counted,
    but gets the same response as any unknown path."""
    return (
        isinstance(limit, ClientRateLimit)
        and request.routing_exception is not None
        and not request.path.startswith("/api/")
    )


def limit_of_account(principal: Principal) -> PlanRateLimit:
    """The limit of an account's requests to the current path."""
    is_disabled = current_settings().rate_limit_disabled
    plan = plan_of(principal.plan)
    per_minute, per_day = plan.requests_per_minute, plan.requests_per_day
    window = principal.account_id
    if is_ogc(request.path):
        per_minute = None if per_minute is None else per_minute * OGC_PER_MINUTE.times
        window = f"ogc:{window}"
    if is_disabled:
        per_minute = per_day = None
    return PlanRateLimit(principal, per_minute, per_day, window)


def _current_limit() -> RateLimit | None:
    """The limit of this request, or None."""
    path = request.path
    is_disabled = current_settings().rate_limit_disabled
    if path.startswith("/v1/") or is_ogc(path):
        principal = current_principal()
        if principal is not None:
            return limit_of_account(principal)
        if is_disabled or (request.routing_exception is not None and not has_credential()):
            return None
        return ClientRateLimit(WITHOUT_CREDENTIAL, "Without a valid credential, the API allows")
    if is_disabled or not path.startswith("/api/"):
        return None
    rule = request.url_rule
    route = path if rule is None else rule.rule  # the address may end with a slash
    limits = ROUTES.get(route, AREAS["/api"])
    tier = next((limit for limit in limits if isinstance(limit, Limit)), None)
    return tier and ClientRateLimit(tier, "The routes of this tier together allow")


def limits_of(rule: Rule, view: Any) -> tuple[Limit | PlanLimit, ...]:
    """The limits of a route: by its path, by its form, and by its decorators."""
    area = "/".join(rule.rule.split("/")[:2])
    limits = ROUTES.get(rule.rule, AREAS.get(area, ()))
    if rule.rule in FORMS and "POST" in (rule.methods or ()):
        limits += (form_posts(rule.rule), CLIENT_POSTS)
    return limits + getattr(view, "limits", ())


def form_posts(route: str) -> Limit:
    """The limit of posts of the form at a route about one subject."""
    return LONG_FORM_POSTS if route in LONG_FORMS else FORM_POSTS


def window_of(limit: Limit, *whom: str) -> WindowKey:
    """The window of a limit for the client and subject in ``whom``."""
    return WindowKey(":".join((limit.name, *whom)), limit.requests, limit.seconds * 1000)


def current_client() -> str:
    """The client of the current request, as ``client_of`` returns it."""
    return client_of(request.remote_addr or "")


@lru_cache(maxsize=1024)
def client_of(address: str) -> str:
    """The client to count for an address: an IPv4 address, or a /64 network of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return _UNKNOWN
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), IPV6_NETWORK_BITS), strict=False))
