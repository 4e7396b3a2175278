"""The layers of ``app``, and what import-linter cannot see of them.

The contracts in ``pyproject.toml`` hold what modules import. Strings, names with an underscore and
Flask's request are checked here.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator

from tests.architecture.sources import ROOT, Sources, imported, imports, parse

_CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
(_LAYERS,) = (each["layers"] for each in _CONTRACTS["contracts"] if each["type"] == "layers")
# From top to bottom.
LAYERS: tuple[tuple[str, ...], ...] = tuple(tuple(re.findall(r"\w+", line)) for line in _LAYERS)

# Below these, no package but ``http`` knows Flask's request.
_OF_REQUESTS = next(place for place, names in enumerate(LAYERS) if "api" in names)
REQUEST_NAMES = frozenset({"request", "session"})


def package(module: str) -> str:
    """``projects`` for ``app.projects.service``; empty for ``app`` and the scripts beside it."""
    return module.split(".")[1] if module.startswith("app.") else ""


def layer(module: str) -> int:
    """The layer of a module, counted from the top. Scripts are above all of them."""
    own = package(module)
    return next((place for place, names in enumerate(LAYERS) if own in names), -1)


def higher_names(known: Sources) -> Iterator[str]:
    """Strings that name a module of a higher layer, or of another package of the same one."""
    for module, source in known.items():
        for node in ast.walk(parse(source)):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            name = node.value
            if not name.startswith("app.") or " " in name or package(name) == package(module):
                continue
            if package(name) in map(package, known) and layer(name) <= layer(module) != -1:
                yield f"{module}:{node.lineno} names {name}"


def requests_below_operations(known: Sources) -> Iterator[str]:
    """Modules in the lower layers that know Flask's request."""
    for module, source in known.items():
        if layer(module) <= _OF_REQUESTS or package(module) == "http":
            continue
        for node in ast.walk(parse(source)):
            for name in imported(node):
                if name.startswith("flask.") and name.removeprefix("flask.") in REQUEST_NAMES:
                    yield f"{module} imports {name}"


def private_names(known: Sources) -> Iterator[str]:
    """Imports of a name with a leading underscore from another module."""
    for module, source in known.items():
        for node, _ in imports(source, known):
            for name in imported(node):
                if name.rpartition(".")[2].startswith("_"):
                    yield f"{module}:{node.lineno} imports {name}"
