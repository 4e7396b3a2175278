"""Text folded for comparison and search. Standard library only: set-up folds names of towns."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_BETWEEN: Final = re.compile(r"[\W_]+")
_SEPARATOR = "\uffff"  # a noncharacter (Unicode, chapter 23.7), which no text should contain
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")  # combining marks of Latin, Greek and Cyrillic
_PLAIN: Final = dict(  # small letters that Unicode does not decompose
    zip("ıłƚøɵđðɖħŧⱦƀɨɉɍʉɇɏƶǥȼⱥᵽȷ", "illoodddhttbijrueyzgcapj", strict=True), æ="ae", œ="oe"
)
_UNDECOMPOSED: Final = re.compile(f"[{''.join(_PLAIN)}]")
# The separator, and the characters by which the text index names the owner of a row
# (app.db.search_index).
_RESERVED: Final = re.compile(f"[{_SEPARATOR}\ue000-\ue07f]")


def fold_text(text: str) -> str:
    """``text`` normalized for comparison: composed (NFC) and case-folded, for every script."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def searchable_text(*texts: str | None) -> str:
    """Texts normalized for search, and joined such that no match spans two of them.

    They are folded, without the accents of Latin, Greek and Cyrillic letters and the strokes of
    Latin ones, so that what a keyboard lacks is found without it: Łódź by lodz, and with either of
    the letters that Unicode has for a Romanian ș. Of Turkish I, ı, İ and i, each is an i.
    """
    parts = [text or "" for text in texts]
    if all(map(str.isascii, parts)):
        return _SEPARATOR.join(parts).lower()
    folded = fold_text(_SEPARATOR.join(_RESERVED.sub("\ufffe", part) for part in parts))
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    plain = _UNDECOMPOSED.sub(lambda match: _PLAIN[match.group()], decomposed)
    return unicodedata.normalize("NFC", plain)


def fold_name(text: str) -> str:
    """The name of a place normalized for search, its words with single spaces between them."""
    return _BETWEEN.sub(" ", searchable_text(text)).strip()
