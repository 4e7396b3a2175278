"""Every regular expression of the application takes time in proportion to the text, whatever that
is: one that goes back and forth would hold up the interpreter, and no clock can end it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from re import _compiler, _parser
from re import _constants as kinds
from types import ModuleType
from typing import Any, Final

import app
from tests.processor_time import seconds_taken, takes_at_most

_CHARACTERS: Final = " 0a.-,'\n\t;:/=_<([\"\\zA9&%?#@+])>|é\0"
_MOST: Final = 6  # texts that one part of an expression stands for
_LENGTHS: Final = (500, 2_000)
_NOTABLE: Final = 0.001  # seconds; in proportion, these lengths take a tenth of it
_ENDS: Final = ("\x01", "a", "")
_REPEATS: Final = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)


def test_every_expression_takes_time_in_proportion_to_the_text(subtests: Any) -> None:
    found = dict(_expressions())
    assert len(found) > 150

    for pattern, where in found.items():
        with subtests.test(where):
            assert _superlinear_text(pattern) is None


def test_growth_is_noticed(subtests: Any) -> None:
    for grows in (r"\s*,", r"(a|b)*\s*\s*x", r"<!--.*?-->", r"[0-9]+[0-9.]*x", r"(?=.*;)a"):
        with subtests.test(grows):
            assert _superlinear_text(re.compile(grows)) is not None


def _superlinear_text(pattern: re.Pattern[Any]) -> str | None:
    """A text for which four times of it take more than ten times as long; None: there is none."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    is_text = isinstance(pattern.pattern, str)
    for before, repeated in dict.fromkeys(_attacks(parsed, [""])):
        for end in _ENDS:
            for call in (pattern.fullmatch, lambda text: deque(pattern.finditer(text), 0)):
                if (grown := _grows(call, before, repeated, end, is_text=is_text)) is not None:
                    return grown
    return None


def _grows(
    call: Callable[[Any], object], before: str, repeated: str, end: str, *, is_text: bool
) -> str | None:
    def run(length: int) -> Callable[[], object]:
        text = before + repeated * (length // len(repeated)) + end
        return lambda: call(text if is_text else text.encode("latin-1", "replace"))

    for length in _LENGTHS:
        large = run(length)
        if seconds_taken(large) > _NOTABLE:
            if takes_at_most(10, large, run(length // 4)):
                return None
            return f"{before!r} + {repeated!r} * {length // len(repeated)} + {end!r}"
    return None


def _attacks(sequence: Any, before: list[str]) -> Iterator[tuple[str, str]]:
    """For each repeat, what leads to it, and what is repeated: by itself, or with what leads to
    it."""
    for kind, value in sequence:
        inner = _inner(kind, value)
        if kind in _REPEATS and value[1] > _LENGTHS[0]:
            for lead in before:
                for unit in filter(None, (lead, *_texts(value[2]))):
                    yield lead, unit
                    yield "", lead + unit
        for branch in inner:
            yield from _attacks(branch, before)
        before = [lead + text for lead in before for text in _node_texts(kind, value)][:_MOST]


def _inner(kind: Any, value: Any) -> list[Any]:
    """The sequences within a node."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.ATOMIC_GROUP:
        return [value]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    if kind is kinds.GROUPREF_EXISTS:
        return [branch for branch in value[1:] if branch]
    return []


def _texts(sequence: Any) -> list[str]:
    found = [""]
    for kind, value in sequence:
        found = [text + more for more in _node_texts(kind, value) for text in found][:_MOST]
    return found


def _node_texts(kind: Any, value: Any) -> list[str]:
    """Short texts that a node takes."""
    if kind is kinds.LITERAL:
        return [chr(value)]
    if kind in (kinds.IN, kinds.ANY, kinds.NOT_LITERAL):
        return _characters(kind, value)
    if kind in _REPEATS:
        fewest, most, sequence = value
        texts = _texts(sequence)
        return [text * fewest for text in texts] if fewest else ["", *texts[: min(most, _MOST - 1)]]
    if kind is kinds.BRANCH:
        return [text for branch in value[1] for text in _texts(branch)[:2]][: 2 * _MOST]
    if kind in (kinds.SUBPATTERN, kinds.ATOMIC_GROUP):
        return _texts(_inner(kind, value)[0])
    return [""]


def _characters(kind: Any, value: Any) -> list[str]:
    """Characters of different kinds that a set takes."""
    one = _parser.SubPattern(_parser.State(), [(kind, value)])
    takes = _compiler.compile(one, re.UNICODE).match
    taken = [character for character in _CHARACTERS if takes(character)]
    return taken[:_MOST] or [next(filter(takes, map(chr, range(sys.maxunicode))))]


def _expressions() -> Iterator[tuple[re.Pattern[Any], str]]:
    """Every expression that modules have, by itself or within a table, and every one that their
    code compiles or matches."""
    for info in pkgutil.walk_packages(app.__path__, "app."):
        if not info.name.endswith("__main__"):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                yield from ((pattern, f"{info.name}.{name}") for pattern in _within(value))
            for pattern, line in _in_code(module):
                yield pattern, f"{info.name}:{line}"


def _within(value: Any) -> Iterable[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _within(item)


def _in_code(module: ModuleType) -> Iterator[tuple[re.Pattern[Any], int]]:
    code = Path(str(module.__file__)).read_text("utf-8")
    for node in ast.walk(ast.parse(code)) if "re." in code or "Regexp" in code else ():
        if isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            if called.startswith("re.") or called.endswith("Regexp"):
                values = [_value(argument, module) for argument in node.args]
                if isinstance(values[0], (str, bytes)) and called != "re.escape":
                    flags = [value for value in values if isinstance(value, re.RegexFlag)]
                    yield re.compile(values[0], *flags), node.lineno


def _value(expression: ast.expr, module: ModuleType) -> Any:
    """The value of an argument; None if it depends on the call."""
    try:
        return eval(ast.unparse(expression), dict(vars(module)))
    except NameError:
        return None
