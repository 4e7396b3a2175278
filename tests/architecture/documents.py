"""What the documentation says, compared with what there is."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from app.http import errors
from app.http.errors import ApiError
from tests.architecture.sources import ROOT, Sources, parse

_SETTING_ROW = re.compile(r"^\|\s*`([A-Z][A-Z0-9_]*)`\s*\|", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_SYMBOL = re.compile(r"app(?:\.[A-Za-z_]\w*)+|(?:config|worker|wsgi)\.[A-Za-z_]\w*")
_PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]+\.(?:py|md|html|css|js|toml|sh|yaml|mako)|[\w.]+\.py")


_CONTENT = re.compile(r"``?(\w+)``?\s+(?:of|in)\s+``?((?:app|tests|docs)/[\w/]+\.py|config\.py)``?")
# Names in docstrings of files that pages load are those of their addresses.
_STATIC = "app/site/static"


def documents() -> dict[str, str]:
    """The pages for people: their text by their path from the root."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}


def setting_rows(page: str) -> list[str]:
    """The settings that a page's tables have a row for: ``| `NAME` | … |``."""
    return _SETTING_ROW.findall(page)


def error_classes() -> dict[str, type[ApiError]]:
    """The refusals of the hierarchy, by name."""
    return {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, ApiError) and kind is not ApiError
    }


def not_drawn(drawing: str, classes: Mapping[str, type[ApiError]]) -> Iterator[str]:
    """Classes whose line ``── Name  status  CODE`` the drawing lacks."""
    for name, kind in classes.items():
        if not re.search(rf"── {name} +{kind.status} +{kind.code}\b", drawing):
            yield name


def codes_without_page(pages: Iterable[str], classes: Mapping[str, type[ApiError]]) -> set[str]:
    """Codes that no page names in a table row together with their status."""
    rows = [line for page in pages for line in page.splitlines() if line.startswith("|")]
    return {
        kind.code
        for kind in classes.values()
        if not any(f"`{kind.code}`" in row and str(kind.status) in row for row in rows)
    }


def docstrings(modules: Sources) -> dict[str, str]:
    """All docstrings of each module, as one text by its name."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        name: "\n\n".join(
            ast.get_docstring(node) or ""
            for node in ast.walk(parse(source))
            if isinstance(node, documented)
        )
        for name, source in modules.items()
    }


def unknown_words(package: str, modules: Sources) -> Iterator[str]:
    """Lower-case words in code marks in the docstring of a package that are neither one of its
    modules nor anywhere in its code."""
    doc = ast.get_docstring(parse(modules[package])) or ""
    own = {name: text for name, text in modules.items() if name.startswith(f"{package}.")}
    parts = {name.removeprefix(f"{package}.").partition(".")[0] for name in own}
    code = "\n".join([modules[package].replace(doc, "", 1), *own.values()])
    code = re.sub(r"^(?:from|import) .*$", "", code, flags=re.MULTILINE)
    for word in re.findall(r"``([a-z_]+)``", doc):
        if word not in parts and not re.search(rf"\b{word}\b", code):
            yield word


def dead_references(page: str, root: Path = ROOT) -> Iterator[str]:
    """Symbols and files that a page names in code marks and that do not exist, and what it says
    is of a file that has no such word."""
    for name, path in _CONTENT.findall(page):
        file = root / path
        if file.is_file() and not re.search(rf"\b{name}\b", file.read_text()):
            yield f"{name} of {path}"
    for text in _CODE.findall(page):
        words = text.split("(")[0].strip()
        if _PATH.fullmatch(words):
            exists = _is_file(words, root)
        else:
            exists = not _SYMBOL.fullmatch(words) or _exists(words)
        if not exists:
            yield words


def _exists(symbol: str) -> bool:
    """Whether a dotted name leads to a module or to something in one."""
    parts = symbol.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return _has(found, parts[length:])
    return False


def _has(found: object, rest: list[str]) -> bool:
    for name in rest:
        if name in getattr(found, "__dataclass_fields__", {}):
            return True
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def _is_file(path: str, root: Path) -> bool:
    """A path from the root, or the name of a file that is somewhere in it."""
    if "/" in path:
        return (root / path).is_file() or (root / _STATIC / path).is_file()
    return (root / path).is_file() or any(root.glob(f"app/**/{path}"))
