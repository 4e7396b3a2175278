"""Texts in KML that no viewer takes for HTML, and the text of HTML that other programs write.

Viewers show the description and the data of a placemark as HTML. So what would be a tag or a
reference in a text is written as references, and escaped like all of XML. Other texts are not
changed, for programs that show them as text.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

SCHEMA: Final = "canopy-"  # begins the ids of schemas whose values are written like this
_MARKUP: Final = re.compile(r"<|&(?=#|[A-Za-z][A-Za-z0-9]*;)")
_REFERENCES: Final = {"<": "&lt;", "&": "&amp;"}
_WRITTEN: Final = re.compile("&(?:lt|amp);")
_TAG: Final = re.compile(
    r"</?(?:a|b|body|br|center|div|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|span|strong|style|table"
    r"|tbody|td|th|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
_LINES: Final = frozenset(
    ["br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "table", "tr", "ul", "ol"]
)
_CELLS: Final = frozenset(("td", "th"))
# A comment, what no viewer shows, a tag, or a declaration. None goes past the beginning of the next
# one, or has what does to the end: the parser of the standard library takes the square of a text's
# length.
_MARKED: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |<(?P<hidden>script|style|title)\b[^<>]*+>.*?(?:</(?P=hidden)\s*+>|\Z)
    |<(?P<end>/?)(?P<tag>[a-z][a-z0-9:-]*+)(?=[\s/>])
    (?:=\s*+(?:"(?:[^"<]|<(?![a-z/!?]))*+"|'(?:[^'<]|<(?![a-z/!?]))*+')|[^<>]|<(?![a-z/!?]))*+>
    |<[!?][^<>]*+>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NO_CHARACTER: Final = re.compile("&#[0-9]{9,};?")  # too large a number to be one
_TEXTS: Final = {reference: text for text, reference in _REFERENCES.items()}


def as_html(text: str) -> str:
    """Return the HTML that shows a text."""
    return _MARKUP.sub(lambda match: _REFERENCES[match[0]], text)


def from_html(html: str) -> str:
    """Return the text that ``as_html`` was given."""
    return _WRITTEN.sub(lambda match: _TEXTS[match[0]], html)


def visible_text(html: str) -> tuple[str, int]:
    """The text that a viewer shows of HTML, as other programs write descriptions, and the number of
    pictures in it. A text without tags is returned unchanged."""
    if not _TAG.search(html):
        return html, 0
    parts, pictures, end = list[str](), 0, 0
    for markup in _MARKED.finditer(html):
        tag, is_end = (markup["tag"] or "").lower(), bool(markup["end"])
        parts.append(_data(html[end : markup.start()]))
        parts.append("\n" if tag in _LINES else " " if tag in _CELLS and not is_end else "")
        pictures += tag in ("img", "video") and not is_end
        end = markup.end()
    parts.append(_data(html[end:]))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines)), pictures


def _data(text: str) -> str:
    """The text between tags."""
    return unescape(_NO_CHARACTER.sub("\ufffd", text)).replace("\n", " ")
