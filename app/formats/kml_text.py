"""Texts in KML that no viewer takes for HTML.

Viewers show the description and the data of a placemark as HTML. So what would be a tag or a
reference in a text is written as references, which are escaped as all of XML is. Other texts stay
as they are, for programs that show them as text.
"""

from __future__ import annotations

import re
from typing import Final

SCHEMA: Final = "canopy-"  # begins the ids of schemas whose values are written like this
_MARKUP: Final = re.compile(r"<|&(?=#|[A-Za-z][A-Za-z0-9]*;)")
_REFERENCES: Final = {"<": "&lt;", "&": "&amp;"}
_WRITTEN: Final = re.compile("&(?:lt|amp);")
_TEXTS: Final = {reference: text for text, reference in _REFERENCES.items()}


def as_html(text: str) -> str:
    """Return the HTML that shows a text."""
    return _MARKUP.sub(lambda found: _REFERENCES[found[0]], text)


def from_html(html: str) -> str:
    """Return the text that ``as_html`` was given."""
    return _WRITTEN.sub(lambda found: _TEXTS[found[0]], html)
