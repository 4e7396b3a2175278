"""The reference page, as its readers get it."""

from __future__ import annotations

import re
from html import unescape
from typing import Final, NamedTuple

_ARTICLE: Final = re.compile(r'<article id="(\w+)">(.*?)</article>', re.DOTALL)
_COMMAND: Final = re.compile(r'<code class="curl">(.*?)</code>', re.DOTALL)


class Command(NamedTuple):
    """A command of the page, with the operation beside which it stands, if there is one."""

    operation: str | None
    text: str


def commands(page: str) -> list[Command]:
    """Every command with curl, those of the guide first."""
    guide = _ARTICLE.sub("", page)
    found = [(None, text) for text in _COMMAND.findall(guide)]
    found += [
        (name, text) for name, body in _ARTICLE.findall(page) for text in _COMMAND.findall(body)
    ]
    return [Command(name, unescape(text)) for name, text in found]
