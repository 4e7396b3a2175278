"""Texts in CSV that no spreadsheet evaluates as a formula.

Spreadsheets evaluate a cell that begins with ``=``, ``+``, ``-`` or ``@``, also in full width, or
after spaces, a tab or a line end, as a formula, which can run programs or send data away
(CWE-1236). Where a cell begins depends on the country: much of Europe separates cells by
semicolons, so one may begin within a text, quoted or not. An apostrophe is written wherever that
could be, and before apostrophes that are there already, so that it can be removed again.
"""

from __future__ import annotations

import re
from typing import Final

_SEPARATOR: Final = r'[;|\t\r\n"]'
_FORMULA: Final = r"'*+[^\S\t\r\n]*+[=+\-@＝＋－＠]"
_START: Final = re.compile(rf"\A(?:'*+[\t\r\n]|{_FORMULA})")
_WITHIN: Final = re.compile(rf"({_SEPARATOR})(?={_FORMULA})")
_GUARDED_WITHIN: Final = re.compile(rf"({_SEPARATOR})'(?={_FORMULA})")


def guard_formulas(text: str) -> str:
    """Return a text with an apostrophe wherever a formula could begin."""
    if _WITHIN.search(text):  # much faster than sub() where there is nothing to replace
        text = _WITHIN.sub(r"\1'", text)
    return f"'{text}" if _START.match(text) else text


def unguard_formulas(text: str) -> str:
    """Return the text that ``guard_formulas`` was given."""
    text = _GUARDED_WITHIN.sub(r"\1", text)
    return text[1:] if text[:1] == "'" and _START.match(text[1:]) else text
