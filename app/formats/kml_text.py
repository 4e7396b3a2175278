"""Texts in KML that no viewer takes for HTML, and the text of HTML that other programs write.

Viewers show the description and the data of a placemark as HTML. So what would be a tag or a
reference in a text is written as references, and escaped like all of XML. Other texts are not
changed, for programs that show them as text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, Final

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
_HIDDEN: Final = frozenset(("script", "style", "title"))
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
    parser = _VisibleText()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(filter(None, lines)), parser.pictures


class _VisibleText(HTMLParser):
    """Collects the texts between tags, with each row and paragraph in a line."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.pictures = 0
        self._hidden = 0  # open elements that no viewer shows

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.pictures += tag in ("img", "video")
        self._hidden += tag in _HIDDEN
        self.parts.append("\n" if tag in _LINES else " " if tag in _CELLS else "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        self.parts.append("\n" if tag in _LINES else "")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))
