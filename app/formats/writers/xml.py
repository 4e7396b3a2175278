"""Text in XML 1.0."""

from __future__ import annotations

import re
from typing import Final

# Characters that no XML 1.0 document has, however they are written (section 2.2).
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REPLACEMENT: Final = "\ufffd"
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
)


def escaped_xml(text: str) -> str:
    """A text for the content of an element, or for an attribute in double quotes. Characters that
    XML does not allow become U+FFFD."""
    return _FORBIDDEN.sub(_REPLACEMENT, text).translate(_ESCAPES)


def xml_element(name: str, text: str | None) -> str:
    """An element with a text, or nothing if that is None."""
    return "" if text is None else f"<{name}>{escaped_xml(text)}</{name}>"
