"""What stands in a page: links, headings, commands, quotations. Functions over its text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

_FENCE = re.compile(
    r"(?:<!-- from (?P<source>\S+) -->\s*\n)?"
    r"(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)\n(?P=indent)```",
    re.DOTALL,
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_FOLDERS = "app|bench|bin|deploy|docs|migrations|tests"
_PATH = re.compile(rf"(?<![\w/.$-])(?:{_FOLDERS})/(?:[\w./-]*\w)?")
_ASSIGNMENT = re.compile(r"[A-Z_]+=")


class Block(NamedTuple):
    """A block between fences; ``source`` is the file that it says it is quoted from."""

    language: str
    text: str
    source: str | None


def blocks(page: str) -> Iterator[Block]:
    for match in _FENCE.finditer(page):
        text = dedent(match["indent"] + match["text"].removeprefix(match["indent"]))
        yield Block(match["language"], text, match["source"])


def links(page: str) -> list[str]:
    """The targets of the links in a page."""
    return _LINK.findall(_prose(page))


def anchors(page: str) -> set[str]:
    """What a link to a heading of this page names behind ``#``, by GitHub's rule."""
    return {_anchor(heading) for heading in _HEADING.findall(_prose(page))}


def paths(page: str) -> set[str]:
    """Files and folders of the repository that a page names, in drawings and commands too."""
    return set(_PATH.findall(page))


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command in the blocks of shell, without settings in front and comments."""
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                yield from _words(line)


def mentioned_commands(page: str) -> Iterator[list[str]]:
    """The words of each command of ``bin`` that stands between backticks in a sentence."""
    for text in _CODE.findall(_prose(page)):
        if text.startswith("bin/"):
            yield from _words(text)


def _words(line: str) -> Iterator[list[str]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a line of a text that goes on over several
        return
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    if words:
        yield words


def _prose(page: str) -> str:
    return _FENCE.sub("", page)


def _anchor(heading: str) -> str:
    plain = _LINK.sub(lambda link: link[0][1:].partition("]")[0], heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
