"""Text written by people, normalized for comparison, search and slugs; and numbers in text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from anyascii import anyascii

from app.policy.kinds import lower_case
from app.policy.request_limits import NAME_LENGTH, RESERVED_SLUGS, SLUG_LENGTH
from app.values import processor_clock

_MARKS = 30
_PIECE: Final = 10_000  # characters to replace until the request's clock is asked
_PLANES: Final = "".join(
    f"{chr(plane)}-{chr(plane + 0xFFFD)}" for plane in range(0x10000, 0x110000, 0x10000)
)
# All but control characters, the separators of lines and paragraphs, and noncharacters. A class
# with those would take ten times as long: ``re`` compares each beyond U+FFFF one by one.
_SHOWN: Final = f"\x20-\x7e\xa0-\u2027\u202a-\ufdcf\ufdf0-\ufffd{_PLANES}"
_CONTROL: Final = re.compile(rf"[^\t\n{_SHOWN}]")
_CONTROLS: Final = re.compile(rf"[^\t\n{_SHOWN}]+")
_LINE_CONTROL: Final = re.compile(f"[^{_SHOWN}]")
# The characters of bytes that are control characters in Latin-1, as the HTML standard reads them:
# dashes, quotes and others.
_WINDOWS_1252: Final = {
    byte: bytes([byte]).decode("cp1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
# An escape that stands for a control character, in JSON without escaped backslashes.
_ESCAPED: Final = re.compile(r"\\[bfru]")
_OBEYED: Final = re.compile(  # by terminals
    rf"[^\t\n{_SHOWN}]|[\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)
# Invisible, although Unicode counts them as letters, marks and symbols.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_INVISIBLE: Final = ("Cc", "Cf", "Zl", "Zp", "Zs")
_WORD_SIGNS: Final = " _-.'’"  # in words, besides letters, marks and digits
_WORD: Final = (
    "Must begin with a letter or digit, and have only letters, digits, single spaces, _, -, . and "
    "apostrophes inside."
)


def storage_problem(text: str) -> str | None:
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


def text_problem(text: str) -> str | None:
    """The reason why a text of several lines cannot be stored, or None."""
    if problem := storage_problem(text):
        return problem
    if match := _CONTROL.search(text):
        return f"Must not contain the character {_code_point(match)}, which cannot be shown."
    return None


def line_problem(text: str) -> str | None:
    """The reason why a name, or another text of one line, cannot be stored, or None."""
    if problem := storage_problem(text):
        return problem
    if match := _LINE_CONTROL.search(text):
        return f"Must be one line, without control characters such as {_code_point(match)}."
    if text and not has_visible(text):
        return "Must contain a character that can be seen."
    return None


def word_problem(word: str) -> str | None:
    """The reason why nothing can have this word as its type or status, or None."""
    if word != (lower := lower_case(word)):
        return f"Must be in lower case: {lower}."
    if not word[:1].isalnum() or word.endswith(".") or "  " in word:
        return _WORD
    is_word = all(
        character.isalnum()
        or character in _WORD_SIGNS
        or unicodedata.category(character).startswith("M")
        for character in word
    )
    return None if is_word else _WORD


def name_problem(name: str) -> str | None:
    """The reason why nothing can have this name, or None. Space around it does not count."""
    if not 1 <= len(name.strip()) <= NAME_LENGTH:
        return f"Must have 1 to {NAME_LENGTH} characters."
    return line_problem(name.strip())


def _code_point(match: re.Match[str]) -> str:
    return f"U+{ord(match.group()):04X}"


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in _INVISIBLE and not _BLANK.match(character)


def normalization_problem(text: str) -> str | None:
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


def with_line_feeds(text: str) -> str:
    """A text whose lines end in line feeds: a browser sends two characters, a file has either."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def json_with_line_feeds(value: Any) -> Any:
    """Return a JSON value with all of its texts as ``with_line_feeds`` returns them."""
    return _with_texts(value, with_line_feeds)


def printable_text(text: str) -> str:
    """Replace characters that a terminal would obey, but not tabs and line feeds."""
    return _OBEYED.sub("?", text)


def display_text(text: str) -> str:
    """Return a stored text as pages and files show it: its lines end in line feeds, and U+FFFD
    replaces every other control character."""
    if not _CONTROL.search(text):
        return text
    text, pieces = with_line_feeds(text), []
    for start in range(0, len(text), _PIECE):
        processor_clock.check()
        pieces.append(_CONTROL.sub("\ufffd", text[start : start + _PIECE]))
    return "".join(pieces)


def display_json(value: Any) -> Any:
    """Return a stored JSON value with all of its texts as pages and files show them."""
    return _with_texts(value, display_text)


def without_controls(value: Any) -> Any:
    """Return a JSON value whose texts hold no control characters but tab and line feed, and no
    noncharacters: those that are characters of Windows-1252 become these, and a space replaces
    others between words."""
    return _with_texts(value, _without_controls)


def _without_controls(text: str) -> str:
    if text.isprintable():  # which takes a fraction of the time
        return text
    text = with_line_feeds(text).translate(_WINDOWS_1252)
    return _CONTROLS.sub(_between_words, text)


def _between_words(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    return " " if start and text[start - 1].strip() and text[end : end + 1].strip() else ""


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with all of its texts, and the names of its members, changed."""
    match value:
        case str():
            return change(value)
        case list():
            return [_with_texts(item, change) for item in value]
        case dict():
            return {change(name): _with_texts(item, change) for name, item in value.items()}
    return value


def has_visible(text: str) -> bool:
    """True if a text has a character that can be seen."""
    return any(map(_is_visible, text))


def may_have_control(text: str) -> bool:
    """Return whether a JSON text may hold a control character other than tab and line feed. To ask
    this takes a fraction of the time that parsing takes, and most texts hold none."""
    if "\\" in text and _ESCAPED.search(text.replace("\\\\", "")):
        return True
    return not text.isprintable() and _CONTROL.search(text) is not None


def has_control(value: Any) -> bool:
    """True if a text of a JSON value holds a control character other than tab and line feed."""
    match value:
        case str():
            return not value.isprintable() and _CONTROL.search(value) is not None
        case list():
            return any(map(has_control, value))
        case dict():
            return any(map(has_control, value)) or any(map(has_control, value.values()))
    return False


def slugify(text: str) -> str:
    """A slug derived from a name: transliterated, lower case, hyphens, at most 63 characters.

    Empty when the transliterated name has no letter or digit.
    """
    words = re.sub(r"[^a-z0-9]+", "-", anyascii(text).lower()).strip("-")
    return words[:SLUG_LENGTH].rstrip("-")


def unreserved_slug(name: str, number: int = 1) -> str:
    """The slug of a name, followed by a number, from 2, where it would be a reserved word.

    Args:
        number: of those with this name; 1 has no number.
    """
    slug = slugify(name)
    number += slug in RESERVED_SLUGS
    if number == 1 or not slug:
        return slug
    suffix = f"-{number}"
    return slug[: SLUG_LENGTH - len(suffix)].rstrip("-") + suffix


def pluralize(number: int, noun: str, several: str = "") -> str:
    """A number with its noun: ``1 seat``, ``1,200 seats``.

    Args:
        several: the plural; empty: ``noun`` with an s.
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
