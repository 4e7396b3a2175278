"""Where a transaction may be committed, how long a file and a package may be, what a table may
import."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from tests.architecture.sources import Sources, dotted, imported, parse

COMMITTERS = (
    "app.*.routes",
    "app.*.views",
    "app.*.jobs",
    "app.cli",
    "app.cli.*",
    "app.db.transactions",  # for the modules above
    "app.second_factor.step_up",  # within a view, before what that is for
    "app.api.blueprint",  # every change of /v1, with its event and its stored response
)
LONGEST_FILE = 300
LONGEST = {"app/*/routes.py": 150, "app/*/service.py": 200, "app/models/*.py": 100}
LONGEST_PACKAGE = 2000
# Packages that may be longer, and why.
LARGE_PACKAGES = {
    "app/formats": "a few modules for each format of files, which share little",
    "app/imports": "uploads, leases and three steps of one import, which share its rows",
    "app/dashboard": "the pages for people, a package for each part",
    "app/ogc": "one interface: its documents, its parameters, features as GeoJSON and as pages",
    "app/cli": "a module for each command of bin/canopy, which share no more than their output",
}


def commits(known: Sources) -> Iterator[str]:
    """Commits that do not stand at an edge."""
    for module, source in known.items():
        if not any(fnmatchcase(module, pattern) for pattern in COMMITTERS):
            for node in ast.walk(parse(source)):
                if isinstance(node, ast.Call) and _commits(dotted(node.func)):
                    yield f"{module}:{node.lineno}"


def _commits(function: str) -> bool:
    return function == "transaction" or function.endswith("session.commit")


def too_long(files: Mapping[str, str]) -> Iterator[str]:
    """Files with more lines than theirs may have.

    Args:
        files: the text of each, by its path from the root.
    """
    for path, text in files.items():
        most = next(
            (most for pattern, most in LONGEST.items() if fnmatchcase(path, pattern)), LONGEST_FILE
        )
        if (lines := text.count("\n")) > most:
            yield f"{path} has {lines} lines, {most} at most"


def large_packages(files: Mapping[str, str]) -> Iterator[str]:
    """Packages below ``app`` with more lines than one may have, those in ``LARGE_PACKAGES`` aside.

    Args:
        files: the text of each, by its path from the root; a package includes those within it.
    """
    lines: Counter[str] = Counter()
    for path, text in files.items():
        if path.startswith("app/") and path.count("/") > 1:
            lines["/".join(path.split("/")[:2])] += text.count("\n")
    for package, number in lines.items():
        if number > LONGEST_PACKAGE and package not in LARGE_PACKAGES:
            yield f"{package} has {number} lines, {LONGEST_PACKAGE} at most"


def not_standard(known: Sources) -> Iterator[str]:
    """Imports of the policy tables that are neither standard library nor policy."""
    for module, source in known.items():
        if not module.startswith("app.policy"):
            continue
        for node in ast.walk(parse(source)):
            for name in imported(node):
                if not name.startswith("app.policy") and not _is_standard(name):
                    yield f"{module} imports {name}"


def relative_imports(known: Sources) -> Iterator[str]:
    """Imports that do not spell the module out, which the other checks would not see."""
    for module, source in known.items():
        for node in ast.walk(parse(source)):
            if isinstance(node, ast.ImportFrom) and node.level:
                yield f"{module}:{node.lineno}"


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names
