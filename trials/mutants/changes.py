"""Mutants: small changes of one line each, of which a test should notice.

mutmut changes functions only, and cosmic-ray neither statements nor texts.
"""

from __future__ import annotations

import ast
import itertools
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_PAIRS: Final = (
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr), (ast.FloorDiv, ast.Mod),
)  # fmt: skip
_OTHER: Final[dict[type, Any]] = dict((*_PAIRS, *((b, a) for a, b in _PAIRS)))
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES: Final = (*_FUNCTIONS, ast.ClassDef)

Former = Mapping[str, Any]  # the fields of a mutant


@dataclass(frozen=True)
class Mutant:
    """A change of one line.

    Args:
        function: the qualified name of the function or class that it is in; empty outside of them.
        source: the line.
        change: what is there, and what is there instead.
        start, end: the bytes of the file that become ``text``.
        lines: those by which one sees that a test runs it; empty if it is run by an import.
        names: what the module has by the statement around it.
    """

    path: str
    line: int
    function: str
    source: str
    change: str
    start: int
    end: int
    text: str
    lines: tuple[int, ...]
    names: tuple[str, ...]

    def apply(self, content: bytes) -> bytes:
        """The content of the file with the change."""
        return content[: self.start] + self.text.encode() + content[self.end :]


def mutants(path: str, content: bytes) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    lines = content.splitlines(keepends=True)
    begins = [0, *itertools.accumulate(map(len, lines))]
    for chain in _chains(ast.parse(content)):
        scopes = [each for each in chain[:-1] if isinstance(each, _SCOPES)]
        for node, new in (*_replacements(chain[-1]), *_negations(chain[-1])):
            start = begins[node.lineno - 1] + node.col_offset
            end = begins[node.end_lineno - 1] + node.end_col_offset
            text = ast.unparse(new)
            if isinstance(node, ast.expr) and not isinstance(new, ast.Constant):
                text = f"({text})"
            yield Mutant(
                path,
                node.lineno,
                ".".join(each.name for each in scopes),
                lines[node.lineno - 1].decode().strip(),
                f"{' '.join(content[start:end].decode().split())} → {text}",
                start,
                end,
                text,
                _run_with(node, chain) if any(map(_is_function, scopes)) else (),
                _defined(chain[1]),
            )


def _chains(node: ast.AST, above: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, ...]]:
    """Yield each node after those around it, but none of annotations and docstrings, nor what is
    in an f-string: Python 3.11 does not know where that begins."""
    chain = (*above, node)
    yield chain
    match node:
        case ast.JoinedStr() | ast.Expr(ast.Constant()):
            return
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in ("annotation", "returns"):
                yield from _chains(child, chain)


def _replacements(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    """Yield the node, if there is something that it can be instead, and that."""
    match node:
        case ast.Compare(left, operators, others):
            for n, operator in enumerate(operators):
                swapped = [*operators[:n], _OTHER[type(operator)](), *operators[n + 1 :]]
                yield node, ast.Compare(left, swapped, others)
        case ast.BoolOp(operator, values):
            yield node, ast.BoolOp(_OTHER[type(operator)](), values)
        case ast.BinOp(left, operator, right) if type(operator) in _OTHER:
            yield node, ast.BinOp(left, _OTHER[type(operator)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            yield node, operand
        case ast.Constant(bool() | int() | float() | str() as value):
            yield node, ast.Constant(_another(value))
        case ast.JoinedStr():
            yield node, ast.Constant("x")
        case ast.Return(value) if value and not isinstance(value, ast.Constant):
            yield node, ast.Return(ast.Constant(None))
        case (
            ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete() | ast.Continue()
            | ast.Break() | ast.Assign([ast.Attribute() | ast.Subscript()])
        ):  # fmt: skip
            yield node, ast.Pass()


def _another(value: float | str) -> float | str:
    if isinstance(value, bool):
        return not value
    return f"{value}x" if isinstance(value, str) else value + 1


def _negations(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    """Yield each condition of an if, a loop, an assertion or a comprehension, and its opposite."""
    for condition in getattr(node, "ifs", [getattr(node, "test", None)]):
        if condition and not isinstance(condition, ast.UnaryOp):
            yield condition, ast.UnaryOp(ast.Not(), condition)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, _FUNCTIONS)


def _run_with(node: Any, chain: Sequence[ast.AST]) -> tuple[int, ...]:
    """The lines of a node and the first of its statement; if that defines a function, all of this,
    as its defaults and decorators matter to whoever calls it."""
    statement: Any = next(each for each in reversed(chain) if isinstance(each, ast.stmt))
    whole = statement if _is_function(statement) else node
    return (statement.lineno, *range(whole.lineno, whole.end_lineno + 1))


def _defined(statement: ast.AST) -> tuple[str, ...]:
    """The names that a statement of a module gives to something."""
    if isinstance(statement, _SCOPES):
        return (statement.name,)
    names = [each for each in ast.walk(statement) if isinstance(each, ast.Name)]
    return tuple(each.id for each in names if isinstance(each.ctx, ast.Store))


def sample(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """One mutant each of some lines; each line is as likely as any other."""
    chance, lines = random.Random(seed), defaultdict(list)
    for each in found:
        lines[each.path, each.line].append(each)
    chosen = chance.sample([*lines.values()], min(count, len(lines)))
    return [chance.choice(each) for each in chosen]


def again(before: Sequence[Former], found: Sequence[Mutant]) -> list[tuple[Former, Mutant | None]]:
    """Each former mutant, and the same change of the same line in a function of the same name: of
    the nearest file, or None if there is no such line any more."""
    alike = defaultdict(list)
    for each in found:
        alike[each.function, each.source, each.change].append(each)
    return [
        (each, _nearest(alike[each["function"], each["source"], each["change"]], each["path"]))
        for each in before
    ]


def _nearest(alike: Sequence[Mutant], path: str) -> Mutant | None:
    return max(alike, key=lambda each: nearness(each.path, path), default=None)


def nearness(one: str, other: str) -> int:
    """How many folders two paths share, and the file, which may be that of the tests for it."""
    parts = [re.sub(r"^\w+/|(?<=/)test_|\.py.*", "", path).split("/") for path in (one, other)]
    return len(os.path.commonprefix(parts))  # noqa: RUF071 - of lists, it compares their items
