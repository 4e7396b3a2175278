"""The OAuth server: lifetimes of codes and tokens, and limits of applications and requests."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

CODE_LIFE: Final = timedelta(minutes=5)
ACCESS_TOKEN_LIFE: Final = timedelta(hours=1)
REFRESH_TOKEN_IDLE: Final = timedelta(days=30)
AUTHORIZATION_LIFE: Final = timedelta(days=90)  # of all tokens from one code
# Of one person and application, in one account, with a code that was used. The next one ends the
# one that was used longest ago.
AUTHORIZATIONS_PER_CONSENT: Final = 50
# Within this time a used refresh token gets the same response; later, it gets new tokens, or
# revokes the authorization if those that it gave were used.
REFRESH_GRACE: Final = timedelta(seconds=30)

APPLICATIONS_PER_ACCOUNT: Final = 50
PEOPLE_SHOWN: Final = 100  # of those who gave one access to the account, on its page
REDIRECT_URIS: Final = 20
REDIRECT_URI_LENGTH: Final = 2_000

FORM_BYTES: Final = 64 * 1024  # of a request to the endpoints for tokens
PARAMETERS: Final = 50
PARAMETER_LENGTH: Final = 2_000  # characters of each, such as `state`

# This scope grants a refresh token, and no access by itself.
OFFLINE_ACCESS: Final = "offline_access"
