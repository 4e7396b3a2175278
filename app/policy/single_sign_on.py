"""Single sign-on: time limits of a sign-in, and limits of the provider's responses."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

REQUEST_SECONDS: Final = 5.0  # one request to the provider, from resolving its name on
RESPONSE_BYTES: Final = 256 * 1024  # one response of the provider
DOCUMENTS_LIFE: Final = 3600.0  # seconds for which its metadata and its keys are kept
RETRY_SECONDS: Final = 10  # after which to try again when it cannot be reached

# Only signatures with a key pair: with a shared secret, or none, others could make tokens.
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
)  # fmt: skip
HEADER_BYTES: Final = 16 * 1024  # an ID token's header, which may hold certificates (x5c)
CLOCK_SKEW: Final = 60  # seconds that the provider's clock may differ
SCOPES: Final = "openid email profile"
SUBJECT_LENGTH: Final = 255  # OpenID Connect Core 1.0, section 2

ATTEMPT_LIFE: Final = timedelta(minutes=15)  # until the provider sends the browser back
CONSENT_LIFE: Final = timedelta(hours=1)  # from then until a new person consents
