"""The OAuth server: lifetimes of codes and tokens, and limits of applications and requests."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

CODE_LIFE: Final = timedelta(minutes=5)
ACCESS_TOKEN_LIFE: Final = timedelta(hours=1)
REFRESH_TOKEN_IDLE: Final = timedelta(days=30)
AUTHORIZATION_LIFE: Final = timedelta(days=90)  # for all tokens from one code
# Authorizations of one person, application and account whose code was used. One more ends the one
# that was used longest ago.
AUTHORIZATIONS_PER_CONSENT: Final = 50
# Within this time a used refresh token gets the same response. Later it gets new tokens, or revokes
# the authorization if the tokens that it gave were used.
REFRESH_GRACE: Final = timedelta(seconds=30)

APPLICATIONS_PER_ACCOUNT: Final = 50
PEOPLE_SHOWN: Final = 100  # on the page of an application, who gave it access
REDIRECT_URIS: Final = 20
REDIRECT_URI_LENGTH: Final = 2_000

FORM_BYTES: Final = 64 * 1024  # a request to the token endpoints
PARAMETERS: Final = 50
PARAMETER_LENGTH: Final = 2_000  # characters in each, such as `state`

# This scope grants a refresh token, and no access by itself.
OFFLINE_ACCESS: Final = "offline_access"
