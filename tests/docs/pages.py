"""What stands in a page: links, headings, commands, quotations. Functions over its text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(
    r"(?:<!-- (?P<note>(?:(?!-->).)+) -->\s*\n)?"
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
    """A block between fences.

    Attributes:
        note: the HTML comment in front of it, such as ``from app/serve.py``; or empty.
        before: the prose between the previous block and this one.
    """

    language: str
    text: str
    note: str
    before: str

    @property
    def source(self) -> str | None:
        """The file that it is quoted from, if it says so."""
        return self.note.removeprefix("from ") if self.note.startswith("from ") else None


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page, each without the indentation of its fence."""
    end = 0
    for match in _FENCE.finditer(page):
        indent = re.compile(f"^{match['indent']}", re.MULTILINE)
        before = page[end : match.start()]
        yield Block(match["language"], indent.sub("", match["text"]), match["note"] or "", before)
        end = match.end()


def links(page: str) -> list[str]:
    """The targets of the links in a page."""
    return _LINK.findall(prose(page))


def anchors(page: str) -> set[str]:
    """What a link to a heading of this page names behind ``#``, by GitHub's rule."""
    return {_anchor(heading) for heading in _HEADING.findall(prose(page))}


def paths(page: str) -> set[str]:
    """Files and folders of the repository that a page names, in drawings and commands too."""
    return set(_PATH.findall(page))


def commands(page: str) -> Iterator[list[str]]:
    """The words of each command in the blocks of shell, without settings in front and comments.

    Those of a recipe are left out: tests/docs/test_recipes.py runs them.
    """
    for block in blocks(page):
        if block.language == "sh" and block.note != "run":
            for line in block.text.replace("\\\n", " ").splitlines():
                yield from _words(line)


def mentioned_commands(page: str) -> Iterator[list[str]]:
    """The words of each command of ``bin`` that stands between backticks in a sentence."""
    for text in _CODE.findall(prose(page)):
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


def prose(page: str) -> str:
    """A page without its blocks."""
    return _FENCE.sub("", page)


def _anchor(heading: str) -> str:
    plain = _LINK.sub(lambda link: link[0][1:].partition("]")[0], heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
