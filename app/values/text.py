"""Text written by people, normalized for comparison, search and slugs; and numbers in text."""

from __future__ import annotations

import re
import unicodedata

from anyascii import anyascii

from app.policy.bounds import SLUG_LENGTH

_MARKS = 30
_SEPARATOR = "\uffff"  # a noncharacter (Unicode, chapter 23.7), which no text should contain
# It, and the characters by which the text index names the owner of a row (app.db.search_index).
_RESERVED = dict.fromkeys([ord(_SEPARATOR), *range(0xE000, 0xE080)], "\ufffe")


def unstorable(text: str) -> str | None:
    """The reason why a database cannot store this text, or None.

    PostgreSQL rejects NUL, and a lone surrogate has no encoding in UTF-8.
    """
    if "\x00" in text:
        return "Must not contain the NUL character."
    try:
        text.encode()
    except UnicodeEncodeError:
        return "Must not contain unpaired surrogates."
    return None


def unnormalizable(text: str) -> str | None:
    """The reason why this text would take long to normalize, or None.

    That takes as long as the square of the marks in a row. Thirty are enough for every script
    (Unicode Standard Annex 15, "Stream-Safe Text Format").
    """
    if text.isascii():
        return None
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks > _MARKS:
            return f"Must not have more than {_MARKS} combining marks in a row."
    return None


def fold(text: str) -> str:
    """``text`` normalized for comparison: composed (NFC) and case-folded, for every script."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def searchable(*texts: str | None) -> str:
    """Texts normalized for search: folded, and joined such that no match spans two of them.

    Turkish has four letters where others have two (I ı İ i). All of them are searched as i, so
    that a name is found however it was capitalized.
    """
    joined = fold(_SEPARATOR.join((text or "").translate(_RESERVED) for text in texts))
    return joined.replace("ı", "i").replace("i\u0307", "i")


def printable(text: str) -> str:
    """Replace control characters, which a terminal would obey, but not line feeds."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)


def slugify(text: str) -> str:
    """A slug derived from a name: transliterated, lower case, hyphens, at most 63 characters.

    Empty when the transliterated name has no letter or digit.
    """
    words = re.sub(r"[^a-z0-9]+", "-", anyascii(text).lower()).strip("-")
    return words[:SLUG_LENGTH].rstrip("-")


def pluralize(number: int, noun: str, several: str = "") -> str:
    """A number with its noun: ``1 seat``, ``1,200 seats``.

    Args:
        several: the plural; empty: ``noun`` with an s.
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
