"""Strict parsing of OAuth parameters, from a query string or a form."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from urllib.parse import parse_qsl

from authlib.oauth2.rfc6749 import InvalidRequestError

from app.policy.oauth import PARAMETER_LENGTH, PARAMETERS
from app.policy.oauth_errors import Description


class Parameters(NamedTuple):
    """Parsed parameters. Those without a value are omitted (RFC 6749, section 3.1)."""

    values: dict[str, str]
    repeated: frozenset[str]  # names that occur more than once


def read_parameters(raw: bytes) -> Parameters:
    """Parse urlencoded parameters.

    Raises:
        InvalidRequestError: they are not UTF-8, contain NUL, or are too many or too long.
    """
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS
        )
    except ValueError:
        raise InvalidRequestError(Description.ENCODING) from None
    for text in (text for pair in pairs for text in pair):
        if "\x00" in text or len(text) > PARAMETER_LENGTH:
            raise InvalidRequestError(Description.LENGTH)
    counts = Counter(name for name, _ in pairs)
    return Parameters(
        {name: value for name, value in pairs if value},
        frozenset(name for name, number in counts.items() if number > 1),
    )


def read_unique(raw: bytes) -> dict[str, str]:
    """Like ``read_parameters``, but also raises InvalidRequestError if one is repeated."""
    parameters = read_parameters(raw)
    if parameters.repeated:
        raise InvalidRequestError(Description.REPEATED)
    return parameters.values
