"""Text as people write it, made fit for comparing, searching and addresses."""

from __future__ import annotations

import re
import unicodedata

from anyascii import anyascii

from app.policy.bounds import SLUG_LENGTH

_BETWEEN = "\uffff"  # no character (Unicode, chapter 23.7), so that nobody types it
# That, and the characters by which the index of texts says whose a text is (app.db.search_index).
_OURS = dict.fromkeys([ord(_BETWEEN), *range(0xE000, 0xE080)], "\ufffe")


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


def searchable(*texts: str | None) -> str:
    """Texts as they are searched: folded, and so that nothing is found across two of them.

    Turkish has four letters where others have two (I ı İ i). All of them are searched as i, so
    that a name is found whichever way it was written in capitals.
    """
    joined = fold(_BETWEEN.join((text or "").translate(_OURS) for text in texts))
    return joined.replace("ı", "i").replace("i\u0307", "i")


def slugify(text: str) -> str:
    """An address made of a name: transliterated, lower case, hyphens, at most 63 characters.

    Empty when the name holds nothing that has a letter or a digit in ASCII.
    """
    words = re.sub(r"[^a-z0-9]+", "-", anyascii(text).lower()).strip("-")
    return words[:SLUG_LENGTH].rstrip("-")
