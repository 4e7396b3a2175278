"""CQL2 as text, such as ``status = 'active' AND S_INTERSECTS(geometry, BBOX(10,50,11,51))``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from app.geometry.shapes import Crs
from app.lists.cql.building import Builder, Operand, Property
from app.lists.cql.nodes import FilterInvalid, Node, ValueKind
from app.policy.ogc import FILTER_LENGTH

_SPACE: Final = re.compile(r"\s*+")
_TOKEN: Final = re.compile(
    r"""(?:
        (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<text>'(?:''|\\'|[^'\\]|\\(?!'))*+')
      | (?P<quoted>"(?:""|[^"])++")
      | (?P<open>['"][^\0]*+)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign><>|<=|>=|[=<>(),])
      | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_GEOMETRY: Final = re.compile(
    r"(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\s*+(?:Z\s*+)?(?=\()",
    re.IGNORECASE,
)
_KEYWORDS: Final = frozenset({"AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS", "NULL"})
_COMPARISONS: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int

    @property
    def keyword(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text


def parse_text(text: str, properties: Mapping[str, ValueKind], crs: Crs) -> Node:
    """The tree of a filter.

    Args:
        properties: the kinds of properties that can be compared.
        crs: the coordinate system of geometries in the filter.

    Raises:
        FilterInvalid: it is wrong, or more than the service supports.
    """
    if len(text) > FILTER_LENGTH:
        raise FilterInvalid(f"The filter is longer than {FILTER_LENGTH:,} characters.")
    return _Parser(text, Builder(properties, crs)).parse()


class _Parser:
    """Reads a filter from left to right; ``_token`` is what comes next."""

    def __init__(self, text: str, builder: Builder) -> None:
        self._text, self._builder = text, builder
        self._depth = 0
        self._token = self._read(0)

    def parse(self) -> Node:
        node = self._any_of()
        if self._token.kind != "end":
            self._refuse("AND, OR or the end")
        return node

    def _any_of(self) -> Node:
        self._depth += 1
        self._builder.check_depth(self._depth)
        parts = [self._all_of()]
        while self._accept("OR"):
            parts.append(self._all_of())
        self._depth -= 1
        return self._builder.any_of(parts)

    def _all_of(self) -> Node:
        parts = [self._negation()]
        while self._accept("AND"):
            parts.append(self._negation())
        return self._builder.all_of(parts)

    def _negation(self) -> Node:
        if not self._accept("NOT"):
            return self._predicate()
        self._depth += 1
        self._builder.check_depth(self._depth)
        node = self._builder.negated(self._negation())
        self._depth -= 1
        return node

    def _predicate(self) -> Node:
        if self._accept("("):
            node = self._any_of()
            self._expect(")")
            return node
        if self._accept("S_INTERSECTS"):
            self._expect("(")
            left = self._operand()
            self._expect(",")
            node = self._builder.intersects(left, self._operand())
            self._expect(")")
            return node
        left = self._operand()
        if isinstance(left, bool) and self._token.text not in _COMPARISONS:
            return self._builder.constant(left)
        return self._comparison(left)

    def _comparison(self, left: Operand) -> Node:
        if self._token.text in _COMPARISONS:
            operator = self._next().text
            return self._builder.comparison(left, operator, self._operand())
        if self._accept("IS"):
            negated = self._accept("NOT")
            self._expect("NULL")
            node = self._builder.is_null(left)
            return self._builder.negated(node) if negated else node
        negated = self._accept("NOT")
        readers: dict[str, Callable[[Operand], Node]] = {
            "LIKE": lambda value: self._builder.like(value, self._operand()),
            "BETWEEN": self._between,
            "IN": lambda value: self._builder.one_of(value, self._list()),
        }
        reader = readers.get(self._token.keyword)
        if reader is None:
            self._refuse("a comparison")
        self._next()
        node = reader(left)
        return self._builder.negated(node) if negated else node

    def _between(self, left: Operand) -> Node:
        low = self._operand()
        self._expect("AND")
        return self._builder.between(left, low, self._operand())

    def _list(self) -> list[Operand]:
        """Values with commas between them, in parentheses."""
        self._expect("(")
        values = [self._operand()]
        while self._accept(","):
            values.append(self._operand())
        self._expect(")")
        return values

    def _operand(self) -> Operand:
        """A property, a literal, or a geometry."""
        token = self._token
        if _GEOMETRY.match(self._text, token.start):
            return self._geometry()
        self._next()
        if token.kind == "text":
            return _unquote_text(token.text)
        if token.kind == "number":
            return float(token.text)
        if token.kind == "quoted":
            return Property(token.text[1:-1].replace('""', '"'))
        if token.kind != "word" or token.keyword in _KEYWORDS:
            self._refuse("a property or a value", token)
        if token.keyword in ("TRUE", "FALSE"):
            return token.keyword == "TRUE"
        return self._call(token.keyword) if self._token.text == "(" else Property(token.text)

    def _call(self, name: str) -> Operand:
        """The value of a function, whose name has been read."""
        if name not in ("BBOX", "TIMESTAMP", "DATE"):
            self._builder.refuse_function(name)
        values = self._list()
        if name == "BBOX" and all(isinstance(value, float) for value in values):
            return self._builder.box(values)
        if name == "TIMESTAMP" and len(values) == 1:
            return self._builder.timestamp(values[0])
        if name == "DATE" and len(values) == 1:
            return self._builder.date(values[0])
        raise FilterInvalid(f"{name} has the wrong arguments.")

    def _geometry(self) -> Operand:
        """A geometry in WKT, up to the parenthesis that ends it."""
        start, depth = self._token.start, 0
        for end in range(self._text.index("(", start), len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[end], 0)
            if depth == 0:
                self._token = self._read(end + 1)
                return self._builder.shape(self._text[start : end + 1])
        raise FilterInvalid("A parenthesis of a geometry is not closed.")

    def _accept(self, keyword: str) -> bool:
        is_next = self._token.keyword == keyword and self._token.kind in ("word", "sign")
        if is_next:
            self._next()
        return is_next

    def _expect(self, keyword: str) -> None:
        if not self._accept(keyword):
            self._refuse(keyword)

    def _next(self) -> _Token:
        token = self._token
        self._token = self._read(token.end)
        return token

    def _read(self, place: int) -> _Token:
        space = _SPACE.match(self._text, place)
        match = _TOKEN.match(self._text, space.end() if space else place)
        if match is None or match["open"]:
            raise FilterInvalid(f"The filter cannot be read from character {place + 1} on.")
        kind: Any = match.lastgroup
        return _Token(kind, match[kind], match.start(kind), match.end())

    def _refuse(self, expected: str, token: _Token | None = None) -> NoReturn:
        token = token or self._token
        actual = token.text[:50] or "the end"
        raise FilterInvalid(
            f"The filter is wrong at character {token.start + 1}: it has {actual!r} where "
            f"{expected} should be."
        )


def _unquote_text(text: str) -> str:
    return text[1:-1].replace("''", "'").replace("\\'", "'")
