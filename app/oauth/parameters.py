"""Parameters of OAuth requests, read strictly: from the query of the page, and from forms."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from urllib.parse import parse_qsl

from authlib.oauth2.rfc6749 import InvalidRequestError

from app.policy.oauth import PARAMETER_LENGTH, PARAMETERS


class Parameters(NamedTuple):
    """What was sent. One without a value counts as left out (RFC 6749, section 3.1)."""

    values: dict[str, str]
    repeated: frozenset[str]  # names that came more than once


def read_parameters(raw: bytes) -> Parameters:
    """The parameters of an urlencoded text.

    Raises:
        InvalidRequestError: it is not UTF-8, holds NUL, or is too much.
    """
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS
        )
    except ValueError:
        raise InvalidRequestError("The parameters are not UTF-8, or are too many.") from None
    for text in (text for pair in pairs for text in pair):
        if "\x00" in text or len(text) > PARAMETER_LENGTH:
            raise InvalidRequestError(
                f"A parameter holds NUL, or has more than {PARAMETER_LENGTH:,} characters."
            )
    times = Counter(name for name, _ in pairs)
    return Parameters(
        {name: value for name, value in pairs if value},
        frozenset(name for name, number in times.items() if number > 1),
    )


def read_once(raw: bytes) -> dict[str, str]:
    """Likewise, where each may come once. Raises InvalidRequestError also for a repetition."""
    parameters = read_parameters(raw)
    if parameters.repeated:
        raise InvalidRequestError("A parameter is repeated.")
    return parameters.values
