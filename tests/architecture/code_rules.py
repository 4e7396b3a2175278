"""Where a transaction may be committed, and what prints, what a table may import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase

from tests.architecture.sources import Sources, dotted, imported, parse

COMMITTERS = (
    "app.*.routes",
    "app.*.views",
    "app.*.jobs",
    "app.*.responses",  # the entry of an export, before its first byte
    "app.cli",
    "app.cli.*",
    "app.demo.first_start",  # in the command that starts the service
    "app.jobs.runs",  # each step of a job
    "app.db.transactions",  # for the modules above
    "app.pages.second_factor.step_up",  # within a view, before what that is for
    "app.api.blueprint",  # every change of /v1, with its event and its stored response
)

PRINTERS = (
    "app.cli.output",
    "app.cli.failures",  # on the stream that click names
    "app.cli.doctor",  # a word in colour
)


def commits(known: Sources) -> Iterator[str]:
    """Commits that do not stand at an edge."""
    for module, source in known.items():
        if not any(fnmatchcase(module, pattern) for pattern in COMMITTERS):
            for node in ast.walk(parse(source)):
                if isinstance(node, ast.Call) and _commits(dotted(node.func)):
                    yield f"{module}:{node.lineno}"


def _commits(function: str) -> bool:
    return function == "transaction" or function.endswith("session.commit")


def prints(known: Sources) -> Iterator[str]:
    """Commands that print a text in which a terminal could obey control characters."""
    for module, source in known.items():
        if module.startswith("app.cli.") and module not in PRINTERS:
            for node in ast.walk(parse(source)):
                if isinstance(node, ast.Call) and dotted(node.func) in ("click.echo", "print"):
                    yield f"{module}:{node.lineno}"


def not_standard(known: Sources) -> Iterator[str]:
    """Imports of the policy tables that are neither standard library nor policy."""
    for module, source in known.items():
        if not module.startswith("app.policy"):
            continue
        for node in ast.walk(parse(source)):
            for name in imported(node):
                if not name.startswith("app.policy") and not _is_standard(name):
                    yield f"{module} imports {name}"


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names
