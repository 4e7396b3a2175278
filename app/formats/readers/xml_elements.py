"""Streaming chosen elements of an XML file.

expat alone reads the file. Nothing that it refers to is opened, and a document type declaration,
which could define entities, is refused. Prefixes of names are left out, and namespaces are ignored:
many files declare none, or the wrong one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final
from xml.parsers import expat

from app.formats.features import FileInvalid
from app.formats.readers.layer_limits import memory_of
from app.policy.files import GEOMETRY_BYTES, VALUE_BYTES, XML_DEPTH

_CHUNK: Final = 64 * 1024
_NAMES: Final = 10_000  # different ones; expat has all of them in memory
_NAME_LENGTH: Final = 1000
_ELEMENT_SIZE: Final = 100  # bytes that an element counts for, without its texts
_SPACE: Final = b" \t\r\n"
# Some programs declare the encoding of their text in memory, and write another one.
_FALSE_ENCODING: Final = re.compile(
    rb"<\?xml[^>]{1,200}?encoding\s*=\s*[\"'](utf-?16|ucs-?2|unicode)", re.IGNORECASE
)
_HINTS: Final = {
    "not well-formed (invalid token)": (
        "A common cause is an & that should be &amp;, or text in another encoding than UTF-8."
    ),
    "undefined entity": "Write the character itself.",
    "no element found": "The file is incomplete: it ends in the middle.",
    "unclosed token": "The file is incomplete: it ends in the middle.",
    "unclosed CDATA section": "The file is incomplete: it ends in the middle.",
}


@dataclass(slots=True, eq=False)
class Element:
    """An element. ``name`` has no prefix; ``attributes`` are names and values in turn; ``text``
    includes that of elements within.

    A record and a container have a ``parent``, the container that they are in. ``number`` is the
    number of containers that had begun when the element did, and so identifies a container.
    """

    name: str
    attributes: list[str]
    parent: Element | None
    number: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def get(self, attribute: str) -> str | None:
        """The value of an attribute."""
        for index in range(0, len(self.attributes), 2):
            if self.attributes[index].rpartition(":")[2] == attribute:
                return self.attributes[index + 1]
        return None

    def named(self, *names: str) -> Iterator[Element]:
        """The children with one of these names."""
        return (child for child in self.children if child.name in names)

    def text_of(self, name: str) -> str | None:
        """The stripped text of the first child with this name, or None if there is none or it is
        empty."""
        return next((child.text.strip() or None for child in self.named(name)), None)


@dataclass(frozen=True, slots=True)
class ElementFilter:
    """The elements of a file to read.

    ``records`` are the result. They are in ``containers``, the outermost of which is the root; of
    what else a container has, only what is in ``about`` is read. Of a record, everything is read
    but what is in a ``closed`` element. Records and containers are not among the children of an
    element. ``texts`` has the most characters that the text of an element may have; other elements
    get no text. In a ``free`` element, all have text where nothing is within; the names have their
    prefixes, or begin with a colon. A record with everything in it takes at most GEOMETRY_BYTES.
    """

    containers: frozenset[str]
    records: frozenset[str]
    texts: Mapping[str, int]
    about: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()


def read_elements(stream: BinaryIO, element_filter: ElementFilter) -> Iterator[Element]:
    """Yield the records of a file, each when it is complete.

    Raises:
        FileInvalid: the file is broken, or exceeds a limit; with the number of the line.
    """
    for records in _Document(stream, element_filter).parts():
        yield from records


def root_name(stream: BinaryIO) -> str:
    """The name of the root of a file, without its prefix. Little more is read.

    Raises:
        FileInvalid: the file is broken before it, or has a document type.
    """
    document = _Document(stream, ElementFilter(frozenset(), frozenset(), {}))
    try:
        next(records for records in document.parts() if document.root)
    except FileInvalid:
        if not document.root:
            raise
    return document.root


class _Refused(Exception):
    """The file is refused; the message continues "Line 7: "."""


class _Document:
    """A file that is being read."""

    def __init__(self, stream: BinaryIO, element_filter: ElementFilter) -> None:
        self.root = ""
        self._stream = stream
        self._filter = element_filter
        self._separate = element_filter.containers | element_filter.records
        self._records: list[Element] = []  # complete, but not yet returned
        self._open = [Element("", [], None, 0)]
        self._depth = 0
        self._skipped_depth = 0  # below the innermost open element
        self._containers = 0
        self._size = 0  # bytes of elements in memory
        self._sizes_before: list[int] = []  # one for each open container or record
        self._text_pieces: list[str] = []  # for the innermost open element
        self._has_text = False  # True if that element has a text
        self._free = 0  # open elements from a free one on
        self._room = 0  # characters that the text may still have
        self._bytes = 0
        self._names: dict[str, str] = {}  # interned names of elements and attributes
        self._checked_names = 0
        first = stream.read(_CHUNK)
        self._first = first.lstrip(_SPACE)
        self._lines_before = first.count(b"\n", 0, len(first) - len(self._first))
        self._parser = expat.ParserCreate(_actual_encoding(first), intern=self._names)
        self._parser.ordered_attributes = True
        self._parser.buffer_text = True
        # From 2.6 on, expat parses an incomplete token again only when twice as much of it is
        # there, so a complete one could look too long below. Older Pythons cannot turn that off.
        if hasattr(self._parser, "SetReparseDeferralEnabled"):
            self._parser.SetReparseDeferralEnabled(False)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def parts(self) -> Iterator[list[Element]]:
        """Yield the records that end in each part of the file."""
        chunk = self._first
        while chunk:
            yield self._parse(chunk, is_last=False)
            chunk = self._stream.read(_CHUNK)
        yield self._parse(b"", is_last=True)

    def _parse(self, chunk: bytes, *, is_last: bool) -> list[Element]:
        try:
            self._parser.Parse(chunk, is_last)
        except _Refused as refused:
            raise self._fault(str(refused)) from None
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "it cannot be read"
            raise self._fault(f"{reason}. {_HINTS.get(reason, '')}".rstrip()) from None
        except (LookupError, ValueError):
            raise FileInvalid(
                "The encoding that the XML file declares is not supported. Save it as UTF-8."
            ) from None
        self._bytes += len(chunk)
        if self._bytes - self._parser.CurrentByteIndex > VALUE_BYTES:
            raise self._fault("a tag or a comment is too long.")
        if len(self._names) > _NAMES:
            raise self._fault(f"there are more than {_NAMES:,} names of elements and attributes.")
        if len(self._names) > self._checked_names:
            self._checked_names = len(self._names)
            if max(map(len, self._names)) > _NAME_LENGTH:
                raise self._fault("the name of an element or an attribute is too long.")
        records, self._records = self._records, []
        return records

    def _fault(self, message: str) -> FileInvalid:
        line = self._parser.CurrentLineNumber + self._lines_before
        return FileInvalid(f"Line {line:,} of the XML: {message}")

    def _refuse_doctype(self, *_: object) -> None:
        raise _Refused(
            "a document type declaration (DOCTYPE), which can define entities, is not accepted. "
            "Remove it."
        )

    def _start(self, name: str, attributes: list[str]) -> None:
        self._depth += 1
        if self._depth > XML_DEPTH:
            raise _Refused(f"elements are nested more than {XML_DEPTH} deep.")
        parent = self._open[-1]
        if self._free:
            name = name if ":" in name else f":{name}"
        elif ":" in name:
            name = name.rpartition(":")[2]
        self.root = self.root or name
        is_skipped = self._skipped_depth or self._has_text
        if is_skipped or not (self._free or self._is_read(name, parent)):
            self._skipped_depth += 1
            return
        self._open.append(self._element(name, attributes, parent))
        if self._free or name in self._filter.free:
            self._free += 1
            self._text_pieces.clear()
            self._room, self._parser.CharacterDataHandler = VALUE_BYTES, self._add_text
            return
        if (length := self._filter.texts.get(name)) is not None:
            self._has_text, self._room = True, length
            self._parser.CharacterDataHandler = self._add_text

    def _is_read(self, name: str, parent: Element) -> bool:
        is_separate = name in self._separate
        if parent.name in self._filter.containers or self._depth == 1:
            return is_separate or name in self._filter.about
        return not is_separate and parent.name not in self._filter.closed

    def _element(self, name: str, attributes: list[str], parent: Element) -> Element:
        is_separate = name in self._separate
        if is_separate:
            self._sizes_before.append(self._size)
            self._containers += name in self._filter.containers
        self._add_size(_ELEMENT_SIZE + (sum(map(memory_of, attributes)) if attributes else 0))
        return Element(name, attributes, parent if is_separate else None, self._containers)

    def _add_size(self, size: int) -> None:
        self._size += size
        if self._size > GEOMETRY_BYTES:
            raise _Refused(
                f"a feature is larger than {GEOMETRY_BYTES // 2**20} MiB. Simplify or divide it."
            )

    def _add_text(self, text: str) -> None:
        self._add_size(memory_of(text))
        self._room -= len(text)
        if self._room < 0:
            raise _Refused(f"a value is longer than {VALUE_BYTES // 2**20} MiB. Shorten it.")
        self._text_pieces.append(text)

    def _end(self, _: str) -> None:
        self._depth -= 1
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        element = self._open.pop()
        if self._free:
            self._free -= 1
            element.text = "" if element.children else "".join(self._text_pieces).strip()
            self._text_pieces.clear()
            if not self._free:
                self._parser.CharacterDataHandler = None
        elif self._has_text:
            element.text = "".join(self._text_pieces)
            self._text_pieces.clear()
            self._has_text, self._parser.CharacterDataHandler = False, None
        if element.name not in self._separate:
            self._open[-1].children.append(element)
            return
        self._size = self._sizes_before.pop()
        if element.name in self._filter.records:
            self._records.append(element)


def _actual_encoding(start: bytes) -> str | None:
    """The encoding of a file that declares a wrong one; None: the declared one."""
    if start.startswith(codecs.BOM_UTF8) or _FALSE_ENCODING.match(start.lstrip(_SPACE)):
        return "utf-8"
    return None
