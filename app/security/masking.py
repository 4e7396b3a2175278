"""Texts without the secrets in them, for whoever reads what is recorded."""

from __future__ import annotations

import re
from typing import Final

from app.security import tokens, webhook_signing

_PREFIXES: Final = (*tokens.PREFIXES, webhook_signing.PREFIX)
_OWN_SECRET: Final = re.compile(rf"({'|'.join(_PREFIXES)})[\w+/=]{{8,}}", re.ASCII)
MASK: Final = "…"
# A value in a query, or a whole part of it that has no name.
_VALUE: Final = re.compile(r"(?<==)[^&]+|(?:^|(?<=&))[^&=]+(?=&|$)")
_SECRET_PART: Final = re.compile(r"(?=.*[0-9]).{20,}", re.DOTALL)  # of a path


def masked_url(url: str) -> str:
    """The URL of a receiver without what may be a secret of it: values in the query, and long parts
    of the path that have a digit."""
    address, mark, query = url.partition("?")
    parts = address.split("/")  # scheme, nothing, host, and then the path
    parts[3:] = [MASK if _SECRET_PART.fullmatch(part) else part for part in parts[3:]]
    return "/".join(parts) + mark + _VALUE.sub(MASK, query)


def without_secrets(text: str) -> str:
    """A text with no more than the beginning of each token and webhook secret of the service."""
    # Each request asks, and hardly any text has one.
    if "canopy_" in text or "whsec_" in text:
        return _OWN_SECRET.sub(rf"\1{MASK}", text)
    return text
