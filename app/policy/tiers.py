"""How many requests a client may make to the web application, and to the API without a credential.

A window has 60 seconds and begins with the client's first request. A client is an address; an IPv6
client is a network of 64 bits, as one customer of a provider has that many addresses.
"""

from __future__ import annotations

from typing import Final

WINDOW_SECONDS: Final = 60

# Requests a window; None is no limit.
TIERS: Final[dict[str, int | None]] = {
    "strict": 5,
    "standard": 30,
    "lenient": 60,
    "exempt": None,
}

# Routes below /api; those that are not named here have the default tier.
DEFAULT_TIER: Final = "standard"
ROUTES: Final[dict[str, str]] = {
    "/api/auth/check-email": "strict",
    "/api/onboarding/validate-email": "strict",
    "/api/onboarding/validate-slug": "standard",
    "/api/projects/validate-slug": "standard",
    "/api/chat": "standard",
    "/api/health": "lenient",
    "/api/billing/webhook": "exempt",  # these three are signed
    "/api/billing/payment-provider-webhook": "exempt",
    "/api/db/webhook": "exempt",
}

# Posts of pages: where somebody may try passwords or addresses. The pages are not counted.
POSTS: Final[dict[str, str]] = {
    "/login": "strict",
    "/register": "strict",
    "/forgot-password": "strict",
    "/register/confirm/<token>": "strict",
    "/reset-password/<token>": "strict",
    "/invitations/<token>": "strict",
    "/profile/password": "strict",
    "/profile/verify-email": "strict",
    "/accounts": "strict",
}

# Requests to /v1 without a valid credential, in a window of their own.
WITHOUT_CREDENTIAL: Final = 60

# Requests to the OAuth server that it refused, in a window of their own. What an application with a
# secret sends is not counted: one server may speak for many people, whose tokens may all be old.
OAUTH_REFUSALS: Final = 60
IPV6_NETWORK_BITS: Final = 64
