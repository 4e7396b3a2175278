"""Programs that verify the signature of a webhook's requests, in several languages.

They are in ``templates/webhook/snippets``. Each responds to signed requests at the path of the
webhook's URL with 204, to others with 401. The programs in JavaScript, Go and Java listen on PORT;
the one in Python needs a WSGI server, Ruby needs Rack, PHP a web server. The secret comes from the
environment and is never part of a page.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from flask import render_template

LANGUAGES: Final = {
    "python": "Python",
    "javascript": "JavaScript",
    "php": "PHP",
    "go": "Go",
    "ruby": "Ruby",
    "java": "Java",
}
# Needs no escape within the quotes of any of these languages.
_PLAIN_PATH: Final = re.compile(r"/[A-Za-z0-9/._~!&()+,;=:@%-]*")
_ANY_PATH: Final = "/webhook"


class Snippet(NamedTuple):
    """A program, and the name of its language."""

    key: str
    language: str
    text: str


def snippets_for(url: str) -> list[Snippet]:
    """Return the programs for a webhook's URL."""
    path = urlsplit(url).path or "/"
    if not _PLAIN_PATH.fullmatch(path):
        path = _ANY_PATH
    return [
        Snippet(key, name, render_template(f"webhook/snippets/{key}.txt", path=path).strip())
        for key, name in LANGUAGES.items()
    ]
