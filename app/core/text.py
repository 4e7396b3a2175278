"""Text as people write it, made fit for comparing, searching and addresses."""

from __future__ import annotations

import re
import unicodedata

from anyascii import anyascii

SLUG_LENGTH = 63


def unstorable(text: str) -> str | None:
    """Why a database could not keep this text, or None.

    PostgreSQL refuses NUL, and a lone surrogate has no encoding in UTF-8.
    """
    if "\x00" in text:
        return "Must not contain the NUL character."
    try:
        text.encode()
    except UnicodeEncodeError:
        return "Must not contain unpaired surrogates."
    return None


def fold(text: str) -> str:
    """``text`` as it is compared: composed (NFC) and case-folded, for every script."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def slugify(text: str) -> str:
    """An address made of a name: transliterated, lower case, hyphens, at most 63 characters.

    Empty when the name holds nothing that has a letter or a digit in ASCII.
    """
    words = re.sub(r"[^a-z0-9]+", "-", anyascii(text).lower()).strip("-")
    return words[:SLUG_LENGTH].rstrip("-")
