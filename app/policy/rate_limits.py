"""Rate limits: the requests in a window, whom they are counted for, and on which routes.

A window begins with the first request in it. A client is an IP address; an IPv6
client is a /64 network, as one customer of a provider has all its addresses.

``flask limiter limits`` prints the limits of each route, from these tables.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from app.policy.ogc import REQUESTS_FACTOR

WINDOW_SECONDS: Final = 60
IPV6_NETWORK_BITS: Final = 64


class Limit(NamedTuple):
    """The number of requests in a window, and whom they are counted for."""

    name: str  # in the keys of its windows in Valkey
    requests: int
    per: str = "client"
    what: str = "requests"
    seconds: int = WINDOW_SECONDS

    def __str__(self) -> str:
        return f"{self.requests} {self.what} in {self.seconds:,} seconds per {self.per}"


class PlanLimit(NamedTuple):
    """The number of requests that the account's plan allows (``app.policy.plans``)."""

    field: str  # the field of ``Plan``
    times: int = 1

    def __str__(self) -> str:
        factor = "" if self.times == 1 else f"{self.times} times "
        return f"{factor}{self.field} of the plan per account"


PER_MINUTE: Final = PlanLimit("requests_per_minute")
OGC_PER_MINUTE: Final = PlanLimit("requests_per_minute", REQUESTS_FACTOR)
PER_DAY: Final = PlanLimit("requests_per_day")
QUESTIONS: Final = PlanLimit("chat_questions_per_day")

WITHOUT_CREDENTIAL: Final = Limit("address", 60, "client without a valid credential")

STRICT: Final = Limit("strict", 5, "client and tier")
STANDARD: Final = Limit("standard", 30, "client and tier")
LENIENT: Final = Limit("lenient", 60, "client and tier")
TIERS: Final = (STRICT, STANDARD, LENIENT)

# Posts of one form about one subject, and posts of all FORMS together.
FORM_POSTS: Final = Limit("form", 5, "form, client and subject", "posts")
CLIENT_POSTS: Final = Limit("forms", 60, "client", "posts of forms")
# For LONG_FORMS, in place of FORM_POSTS.
LONG_FORM_POSTS: Final = FORM_POSTS._replace(requests=20)

# Sign-ups from one client, such as the network of a training: each sends a mail to an address that
# anybody may have typed.
SIGN_UPS: Final = Limit("sign_ups", 50, what="sign-ups", seconds=24 * 60 * 60)

# Requests of one signed-in person to pages and by their scripts. Dragging a map without a pause
# makes about a hundred.
PAGE_REQUESTS: Final = Limit("pages", 600, "person", "requests to pages")

# Rejected requests to the OAuth server. Those of applications with a secret do not count: one
# server may act for many people, whose tokens may all have expired.
OAUTH_REJECTIONS: Final = Limit("oauth", 60, what="failed requests")
# Each refresh stores two tokens. They are counted for one person, over all applications that one
# account has registered: more applications allow no more refreshes.
REFRESHES: Final = Limit("refreshes", 60, "person and owner of applications", "refreshes")
REFRESHES_PER_DAY: Final = Limit(
    "refreshes_per_day", 2_000, "person and owner of applications", "refreshes", 24 * 3600
)
# Each may store a code. They are counted for one person, or nobody, from one client.
AUTHORIZATION_REQUESTS: Final = Limit("authorize", 60, "client and person")
# Sign-ins at the provider that one client begins: each stores a row.
SINGLE_SIGN_ONS: Final = Limit("single_sign_on", 30, what="sign-ins at the provider")

# The limits of all routes below a path, but for those in ROUTES.
AREAS: Final[dict[str, tuple[Limit | PlanLimit, ...]]] = {
    "/v1": (PER_MINUTE, PER_DAY, WITHOUT_CREDENTIAL),
    "/ogc": (OGC_PER_MINUTE, PER_DAY, WITHOUT_CREDENTIAL),
    "/api": (STANDARD,),
}
# Beside these, pages for people who are signed in are limited by PAGE_REQUESTS, as their decorators
# say, and posts of FORMS by FORM_POSTS and CLIENT_POSTS.
ROUTES: Final[dict[str, tuple[Limit | PlanLimit, ...]]] = {
    "/api/auth/check-email": (STRICT,),
    "/api/onboarding/validate-email": (STRICT,),
    "/api/onboarding/validate-slug": (STANDARD,),
    "/api/projects/validate-slug": (STANDARD,),
    "/api/chat": (STANDARD, QUESTIONS),
    "/api/health": (LENIENT,),
    "/api/billing/webhook": (),  # these three are signed
    "/api/billing/payment-provider-webhook": (),
    "/api/db/webhook": (),
    "/oauth/authorize": (AUTHORIZATION_REQUESTS,),
    "/oauth/token": (OAUTH_REJECTIONS, REFRESHES, REFRESHES_PER_DAY),
    "/oauth/revoke": (OAUTH_REJECTIONS,),
    "/oauth/introspect": (OAUTH_REJECTIONS,),
    "/register": (SIGN_UPS,),
    "/login/single-sign-on": (SINGLE_SIGN_ONS,),
    "/profile/sign-ins/link": (SINGLE_SIGN_ONS,),
}

# Forms with which a client could guess passwords or addresses, or cause mails, and what each is
# about: the email address that was typed, the token in its path, the person who is signed in, the
# pending sign-in, or the attempt at single sign-on. Only POST counts.
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
# Forms with many fields, which people send several times until all are right. They leave nothing
# to guess and send no email.
LONG_FORMS: Final = frozenset(
    {"/api-keys/new", "/service-tokens/new", "/applications/new", "/webhooks/new"}
)
