"""Removing secrets from texts for logs."""

from __future__ import annotations

import re
from string import digits
from typing import Final

from app.security import tokens, webhook_signing

_PREFIXES: Final = (*tokens.PREFIXES, webhook_signing.PREFIX)
_OWN_SECRET: Final = re.compile(rf"({'|'.join(_PREFIXES)})[\w+/=]{{8,}}", re.ASCII)
MASK: Final = "…"
# A value in a query, or a part without a name.
_VALUE: Final = re.compile(r"(?<==)[^&]+|(?:^|(?<=&))[^&=]+(?=&|$)")
_SECRET_LENGTH: Final = 20  # at least, of a segment of a path


def masked_url(url: str) -> str:
    """Return the URL of a receiver without what may be secret: values in the query, and long
    segments of the path that have a digit."""
    address, mark, query = url.partition("?")
    segments = address.split("/")  # scheme, nothing, host, and the path
    segments[3:] = [MASK if _is_secret(text) else text for text in segments[3:]]
    return "/".join(segments) + mark + _VALUE.sub(MASK, query)


def _is_secret(segment: str) -> bool:
    return len(segment) >= _SECRET_LENGTH and not set(digits).isdisjoint(segment)


def without_secrets(text: str) -> str:
    """Return a text with each token and webhook secret of the service cut to its prefix."""
    # Each request asks, and hardly any text has one.
    if "canopy_" in text or "whsec_" in text:
        return _OWN_SECRET.sub(rf"\1{MASK}", text)
    return text
