"""XML as a stream of elements, and XML that is made to do harm."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from app.formats.features import FileInvalid
from app.formats.readers import xml_elements
from app.formats.readers.xml_elements import Element, ElementFilter, read_elements
from app.policy.files import VALUE_BYTES

BOOKS = ElementFilter(
    containers=frozenset({"shelf"}),
    records=frozenset({"book"}),
    texts={"label": 100, "title": VALUE_BYTES},
    about=frozenset({"label"}),
    closed=frozenset({"page"}),
)


def read(content: str | bytes) -> list[Element]:
    data = content.encode() if isinstance(content, str) else content
    return list(read_elements(io.BytesIO(data), BOOKS))


def titles(content: str | bytes) -> list[str | None]:
    return [book.text_of("title") for book in read(content)]


def refusal(content: str | bytes) -> str:
    with pytest.raises(FileInvalid) as refused:
        read(content)
    return str(refused.value)


class Endless(io.RawIOBase):
    """A head, and a text again and again, some bytes long, that are not in memory together."""

    def __init__(self, head: bytes, repeated: bytes, size: int) -> None:
        self._rest = head
        self._repeated = repeated * (64 * 1024 // len(repeated) + 1)
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = min(len(buffer), self._left)
        while len(self._rest) < size:
            self._rest += self._repeated
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        self._left -= size
        return size


def endless(head: bytes, repeated: bytes, size: int) -> BinaryIO:
    return io.BufferedReader(Endless(head, repeated, size), 64 * 1024)


def refusal_of_endless(head: bytes, repeated: bytes) -> str:
    with pytest.raises(FileInvalid) as refused:
        _count(read_elements(endless(head, repeated, 300_000_000), BOOKS))
    return str(refused.value)


def test_records_have_what_was_asked_for() -> None:
    (book,) = read('<shelf><book id="b1"><title> Oaks </title><page><price/></page></book></shelf>')
    assert (book.name, book.get("id"), book.get("year")) == ("book", "b1", None)
    assert [(child.name, child.children) for child in book.children] == [
        ("title", []),
        ("page", []),
    ]
    assert book.text_of("title") == "Oaks"
    assert book.text_of("page") is None
    assert read("<shelf><case><book/></case></shelf>") == []


def test_records_know_their_container() -> None:
    content = (
        "<shelf><label>A</label><shelf><label>B</label><book/></shelf><book/>"
        "<shelf><book/><book/></shelf></shelf>"
    )
    parents = [book.parent for book in read(content)]
    assert [one.text_of("label") for one in parents if one] == ["B", "A", None, None]
    assert [one.number for one in parents if one] == [2, 1, 3, 3]


def test_prefixes_are_left_out_whether_or_not_they_are_declared() -> None:
    assert titles('<a:shelf><b:book b:id="1"><c:title>x</c:title></b:book></a:shelf>') == ["x"]
    (book,) = read('<a:shelf><b:book b:id="1"/></a:shelf>')
    assert book.get("id") == "1"


def test_text_comes_whole_from_cdata_and_in_pieces() -> None:
    long = "wood & <b>land</b> " * 20_000
    assert titles(f"<shelf><book><title><![CDATA[{long}]]></title></book></shelf>") == [
        long.strip()
    ]


def test_encodings_that_are_not_declared() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        assert titles("<shelf><book><title>Müße</title></book></shelf>".encode(encoding)) == [
            "Müße"
        ], encoding


def test_a_file_in_utf_16_that_is_read_in_pieces() -> None:
    book = "<book><title>Müße</title></book>" * 5_000
    assert len(read(f"<shelf>{book}</shelf>".encode("utf-16"))) == 5_000


def test_encodings_that_are_declared() -> None:
    for declared, actual in (
        *(("iso-8859-1", "iso-8859-1"), ("windows-1252", "cp1252"), ("UTF-16", "utf-16")),
        # Programs that write UTF-8, and declare what the text was in memory, or their own default.
        *(("utf-16", "utf-8"), ("utf-16", "utf-8-sig"), ("ISO-8859-1", "utf-8-sig")),
    ):
        head = f'<?xml version="1.0" encoding="{declared}"?>'
        content = f"{head}<shelf><book><title>Müße</title></book></shelf>"
        assert titles(content.encode(actual)) == ["Müße"], declared


def test_other_encodings_are_refused() -> None:
    for encoding in ("gbk", "zip", "no-such", "idna", "undefined"):
        content = f'<?xml version="1.0" encoding="{encoding}"?><shelf/>'
        assert "Save it as UTF-8" in refusal(content), encoding


def test_space_before_the_declaration_is_passed_over() -> None:
    content = '\n\n<?xml version="1.0"?>\n<shelf><book></title></shelf>'
    assert refusal(content).startswith("Line 4 of the XML: mismatched tag")


def test_what_is_broken_is_named_with_its_line() -> None:
    for content, message in (
        ("<shelf>\n<book>", "Line 2 of the XML: no element found. The file is incomplete"),
        ("<shelf>\n<boo", "Line 2 of the XML: unclosed token. The file is incomplete"),
        ("<shelf>\n<![CDATA[a", "The file is incomplete"),
        ("<shelf>oak & ash</shelf>", "an & that should be &amp;"),
        ("<shelf><book>&nbsp;</book></shelf>", "undefined entity. Write the character itself."),
        (b"<shelf>\xe4</shelf>", "another encoding than UTF-8"),
        ("<shelf/><shelf/>", "junk after document element"),
        ("<shelf>\0</shelf>", "not well-formed"),
        ("", "no element found"),
    ):
        assert message in refusal(content), content


def test_a_document_type_is_refused() -> None:
    for declaration in (
        '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1/x.dtd"> %a;]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">',
        "<!DOCTYPE x>",
    ):
        content = (
            f'<?xml version="1.0"?>\n{declaration}<shelf><book><title>&b;</title></book></shelf>'
        )
        assert refusal(content).startswith(
            "Line 2 of the XML: a document type declaration (DOCTYPE)"
        ), declaration


def test_deep_nesting_is_refused() -> None:
    assert "nested more than 100 deep" in refusal("<shelf>" * 100_000)


@pytest.mark.parametrize(
    ("head", "repeated", "message"),
    [
        (b"<shelf><book><title>", b"x" * 1000, "a value is longer than 1 MiB"),
        (b"<shelf><book a='", b"x" * 1000, "a tag or a comment is too long"),
        (b"<shelf><!--", b"x" * 1000, "a tag or a comment is too long"),
        (b"<shelf><book>", b"<page/>", "a feature is larger than 2 MiB"),
        (b"<shelf>", b"<label/>", "a feature is larger than 2 MiB"),
        (b"<shelf><book>", b"<page a='" + b"x" * 500_000 + b"'/>", "larger than 2 MiB"),
    ],
)
def test_what_grows_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, head: bytes, repeated: bytes, message: str
) -> None:
    monkeypatch.setattr(xml_elements, "GEOMETRY_BYTES", 2 << 20)
    assert message in refusal_of_endless(head, repeated)


def test_names_without_end_are_refused() -> None:
    elements = "".join(f"<n{number}/>" for number in range(50_000))
    assert "more than 10,000 names" in refusal(f"<shelf>{elements}</shelf>")
    attributes = "".join(f' n{number}=""' for number in range(50_000))
    assert "more than 10,000 names" in refusal(f"<shelf><x{attributes}/></shelf>")
    for long in ("x" * 2000, f"x {'x' * 2000}=''"):
        assert "the name of an element or an attribute" in refusal(f"<shelf><{long}/></shelf>")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_records() -> None:
    content = b"<book id='1'><title>" + b"x" * 1000 + b"</title><page/></book>"
    stream = endless(b"<shelf>", content, 10_000 * len(content))
    tracemalloc.start(1)
    with pytest.raises(FileInvalid):  # it ends in the middle
        _count(read_elements(stream, BOOKS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000  # of the 10 MB of text


def _count(elements: Iterator[Element]) -> int:
    return sum(1 for _ in elements)
