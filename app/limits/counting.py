"""Rate limits that views check, once they know the subject.

Each raises ``RateLimited`` over the limit. While Valkey is down, all requests pass.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from flask import request

from app.limits.limiter import (
    ClientRateLimit,
    RateLimit,
    current_client,
    enforce_limit,
    form_posts,
    window_of,
)
from app.limits.plan_file import plan_of
from app.limits.storage import DAY_MS, WindowKey, WindowStorage
from app.limits.windows import LimitResult
from app.policy.rate_limits import (
    AUTHORIZATION_REQUESTS,
    CLIENT_POSTS,
    OAUTH_REJECTIONS,
    PAGE_REQUESTS,
    REFRESHES,
    REFRESHES_PER_DAY,
    SIGN_UPS,
    SINGLE_SIGN_ONS,
)
from app.values.text import pluralize


class PageRateLimit(RateLimit):
    """Several windows, in which a request counts all together or not at all."""

    __slots__ = ("windows",)

    def __init__(self, windows: Sequence[WindowKey]) -> None:
        super().__init__(windows[0].limit)
        self.windows = windows

    def hit(self, storage: WindowStorage) -> LimitResult | None:
        return storage.hit_windows(self.windows)

    def rejection(self, result: LimitResult) -> str:
        wait = pluralize(result.retry_after(), "second")
        return f"Too many attempts. Please wait {wait} and try again."


class SignUpRateLimit(PageRateLimit):
    """The sign-ups of a client in 24 hours."""

    __slots__ = ()

    def rejection(self, result: LimitResult) -> str:
        wait = pluralize(math.ceil(result.retry_after() / 3600), "hour")
        return (
            "Too many people have signed up from your network today. Try again in "
            f"{wait}, or ask for an invitation."
        )


class RefreshRateLimit(PageRateLimit):
    """The refreshes of a person's tokens by the applications of one account."""

    __slots__ = ()

    def rejection(self, result: LimitResult) -> str:
        window = result.tightest
        assert window is not None
        wait = pluralize(result.retry_after(), "second")
        return (
            f"The OAuth server allows {window.limit:,} refreshes a {window.name} for one person, "
            "counted over all applications of the account that registered this one. "
            f"Refresh only when a token has expired. Try again in {wait}."
        )


class QuestionRateLimit(RateLimit):
    """The questions of an account to the chat in 24 hours."""

    kind = "plan"
    __slots__ = ("account_id", "plan")

    def __init__(self, account_id: str, plan: str, amount: int) -> None:
        super().__init__(amount)
        self.account_id, self.plan = account_id, plan

    def hit(self, storage: WindowStorage) -> LimitResult | None:
        window = WindowKey(f"questions:{self.account_id}", self.amount, DAY_MS)
        return storage.hit_windows((window,))

    def rejection(self, result: LimitResult) -> str:
        wait = pluralize(math.ceil(result.retry_after() / 3600), "hour")
        return (
            f"The plan {self.plan} allows {self.amount:,} chat questions a day, counted over all "
            f"credentials of the account. Try again in {wait}."
        )


def count_question(account_id: str, plan: str) -> None:
    """Count a question of an account to the chat. Raises RateLimited."""
    amount = plan_of(plan).chat_questions_per_day
    if amount is not None:
        enforce_limit(QuestionRateLimit(account_id, plan, amount))


def count_form_post(subject: str) -> None:
    """Count a post of the form at the current route.

    Args:
        subject: the subject of the post (``app.policy.rate_limits.FORMS``), of any length.

    Raises:
        RateLimited: this client has posted it too often about this subject, or too many forms.
    """
    route = request.url_rule.rule if request.url_rule else ""
    digest = hashlib.sha256(subject.encode(errors="surrogatepass")).hexdigest()
    form = window_of(form_posts(route), route, current_client(), digest)
    enforce_limit(PageRateLimit((form, window_of(CLIENT_POSTS, current_client()))))


def count_sign_up() -> None:
    """Count a sign-up, which sends a mail. Raises RateLimited."""
    enforce_limit(SignUpRateLimit((window_of(SIGN_UPS, current_client()),)))


def count_authorization_request(user_id: str) -> None:
    """Count a request to the consent page. Raises RateLimited.

    Args:
        user_id: the id of the signed-in person, or an empty string.
    """
    enforce_limit(PageRateLimit((window_of(AUTHORIZATION_REQUESTS, current_client(), user_id),)))


def count_refresh(user_id: str, owner_id: str) -> None:
    """Count a refresh of a person's tokens. Raises RateLimited.

    Args:
        owner_id: the id of the account that has registered the application.
    """
    limits = (REFRESHES, REFRESHES_PER_DAY)
    enforce_limit(RefreshRateLimit([window_of(limit, user_id, owner_id) for limit in limits]))


def count_single_sign_on() -> None:
    """Count a begun sign-in at the provider of single sign-on. Raises RateLimited."""
    enforce_limit(PageRateLimit((window_of(SINGLE_SIGN_ONS, current_client()),)))


def count_page_request(user_id: str) -> None:
    """Count a request of a signed-in person to a page. Raises RateLimited."""
    enforce_limit(PageRateLimit((window_of(PAGE_REQUESTS, user_id),)))


def count_rejected_request() -> None:
    """Count a request that the OAuth server has rejected without authentication. Raises
    RateLimited."""
    enforce_limit(ClientRateLimit(OAUTH_REJECTIONS, "The OAuth server allows"))
