"""The source files of the service, and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Sources = Mapping[str, str]  # dotted name of a module -> its text


@cache
def sources() -> dict[str, str]:
    """Every module of the service: the package and the scripts beside it."""
    files = [*ROOT.glob("app/**/*.py"), *ROOT.glob("*.py")]
    return {module_name(path.relative_to(ROOT)): path.read_text() for path in sorted(files)}


def module_name(path: Path) -> str:
    """``app/values/ids.py`` is ``app.values.ids``; ``app/core/__init__.py`` is ``app.core``."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, known: Sources) -> Iterator[tuple[ast.stmt, str]]:
    """Each import of a module of the service, wherever it stands, with the module's name."""
    for node in _import_statements(source):
        for name in imported(node):
            if name in known:
                yield node, name
            elif name.rpartition(".")[0] in known:
                yield node, name.rpartition(".")[0]


@cache
def parse(source: str) -> ast.Module:
    """The tree of a file, parsed once for all checks."""
    return ast.parse(source)


@cache
def _import_statements(source: str) -> tuple[ast.stmt, ...]:
    found = ast.walk(parse(source))
    return tuple(node for node in found if isinstance(node, ast.Import | ast.ImportFrom))


def imported(node: ast.AST) -> list[str]:
    """The dotted names that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def dotted(node: ast.AST) -> str:
    """``db.session.commit`` of the expression that spells it; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""
