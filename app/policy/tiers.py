"""How many requests a client may make to the web application, and to the API without a credential.

A window lasts 60 seconds and begins with the client's first request. A client is an IP address; an
IPv6 client is a /64 network, as one customer of a provider has all its addresses.
"""

from __future__ import annotations

from typing import Final

WINDOW_SECONDS: Final = 60

# Requests in a window; None means no limit.
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

# Limits of forms with which a client could guess passwords or addresses, or cause mails: posts of
# one form about one subject, and posts of all of them together, in one window.
FORM_POSTS: Final = 5
CLIENT_POSTS: Final = 60
# What a form is about: the email address that was typed, the token in its path, the person who is
# signed in, the pending sign-in, or the attempt at single sign-on. Only POST counts.
FORMS: Final[dict[str, str]] = {
    "/login": "email",
    "/login/second-factor": "sign-in",
    "/register": "email",
    "/forgot-password": "email",
    "/register/confirm/<token>": "token",
    "/reset-password/<token>": "token",
    "/verify-email/<token>": "token",
    "/invitations/<token>": "token",
    "/profile/password": "person",
    "/profile/verify-email": "person",
    "/profile/second-factor/authenticator/confirm": "person",
    "/profile/second-factor/passkeys": "person",
    "/profile/second-factor/recovery-codes": "person",
    "/login/single-sign-on/new": "attempt",
    "/login/single-sign-on/link": "attempt",
    "/login/single-sign-on/mail": "attempt",
    "/login/single-sign-on/link/<token>": "token",
    "/accounts": "person",
    "/settings/deletion": "person",
    "/profile/deletion": "person",
    "/members/invite": "person",
    "/members/<member_id>/invite": "person",
    "/webhooks/<webhook_id>/rotate": "person",
    "/webhooks/new": "person",
    "/welcome/key": "person",
    "/api-keys/new": "person",
    "/service-tokens/new": "person",
    "/applications/new": "person",
    "/applications/<app_id>/secret": "person",
}
# Forms with more to get right than others, which leave nothing to guess and cause no mail.
LONG_FORMS: Final = frozenset(
    {"/api-keys/new", "/service-tokens/new", "/applications/new", "/webhooks/new"}
)
LONG_FORM_POSTS: Final = 20

# Requests of one signed-in person to the pages of an account, with what their scripts load: a map
# that is dragged without a pause makes about a hundred.
PAGE_REQUESTS: Final = 600

# Requests to /v1 without a valid credential, in a window of their own.
WITHOUT_CREDENTIAL: Final = 60

# Rejected requests to the OAuth server, in a window of their own. Those of applications with a
# secret do not count: one server may act for many people, whose tokens may all have expired.
OAUTH_REJECTIONS: Final = 60
# Authorization requests of one person, or of nobody, from one client: each may store a code.
AUTHORIZATION_REQUESTS: Final = 60
# Sign-ins at the provider of single sign-on that one client begins: each stores a row.
SINGLE_SIGN_ONS: Final = 30
IPV6_NETWORK_BITS: Final = 64
