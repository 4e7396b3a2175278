"""The OAuth server: how long what it gives out is good, and what an application can have."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

CODE_LIFE: Final = timedelta(minutes=5)
ACCESS_TOKEN_LIFE: Final = timedelta(hours=1)
REFRESH_TOKEN_IDLE: Final = timedelta(days=30)
AUTHORIZATION_LIFE: Final = timedelta(days=90)  # of all that comes from one consent page
# A refresh token that was used gives the same answer again for so long; after it, it ends all.
REFRESH_GRACE: Final = timedelta(seconds=30)

REDIRECT_URIS: Final = 20
REDIRECT_URI_LENGTH: Final = 2_000

FORM_BYTES: Final = 64 * 1024  # of a request to the token endpoint and its like
PARAMETERS: Final = 50
PARAMETER_LENGTH: Final = 2_000  # characters of each, such as `state`

# Asking for this one gets a refresh token; it opens nothing by itself.
OFFLINE_ACCESS: Final = "offline_access"
