"""The tokens that the service issues: generated, checked and hashed here.

A token is a prefix for its kind, 32 random characters in base 62, and a checksum of six characters.
The checksum rejects malformed tokens without the database; it is no protection. Only the SHA-256 of
a token is stored: 190 random bits need no slow hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from typing import Final

API_KEY: Final = "canopy_key_"
SERVICE_TOKEN: Final = "canopy_svc_"  # noqa: S105 - a prefix, not a secret
ACCESS_TOKEN: Final = "canopy_oat_"  # noqa: S105 - a prefix, not a secret
REFRESH_TOKEN: Final = "canopy_ort_"  # noqa: S105 - a prefix, not a secret

SESSION: Final = "canopy_ses_"
SIGN_IN: Final = "canopy_sgn_"  # for a browser during single sign-on
LINK: Final = "canopy_lnk_"  # in a mail
PENDING_SIGN_IN: Final = "canopy_psi_"
CLIENT_SECRET: Final = "canopy_ocs_"  # noqa: S105 - a prefix, not a secret
AUTHORIZATION_CODE: Final = "canopy_oac_"

PREFIXES: Final = (
    *(API_KEY, SERVICE_TOKEN, ACCESS_TOKEN, REFRESH_TOKEN, SESSION, SIGN_IN, LINK),
    *(PENDING_SIGN_IN, CLIENT_SECRET, AUTHORIZATION_CODE),
)

# Keyed by the kind of a credential.
CREDENTIAL_PREFIXES: Final = {"api_key": API_KEY, "service_token": SERVICE_TOKEN}

_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH: Final = 32  # 62**32 is about 190 bits
_CHECK_LENGTH: Final = 6  # 62**6 holds the 32 bits of a CRC
# Matches any token, also within a text.
ANY_TOKEN: Final = re.compile(
    rb"canopy_[a-z]{3}_[0-9A-Za-z]{%d}" % (_RANDOM_LENGTH + _CHECK_LENGTH)
)


def new_token(prefix: str) -> str:
    """Return a new token."""
    body = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return prefix + body + _token_checksum(prefix + body)


def is_well_formed(token: str, prefix: str) -> bool:
    """True if a text has the length, characters and checksum of a token with this prefix."""
    if not token.startswith(prefix) or not token.isascii():
        return False
    body, check = token[:-_CHECK_LENGTH], token[-_CHECK_LENGTH:]
    return len(body) == len(prefix) + _RANDOM_LENGTH and _token_checksum(body) == check


def hash_token(token: str) -> str:
    """Return the hexadecimal SHA-256 of a token, which is stored."""
    return hashlib.sha256(token.encode()).hexdigest()


def _token_checksum(text: str) -> str:
    number = zlib.crc32(text.encode())
    digits = []
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)
