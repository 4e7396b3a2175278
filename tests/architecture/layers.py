"""The layers, and which imports between packages are allowed.

``LAYERS`` lists the packages of ``app`` from top to bottom. A module imports from its own layer and
from those below. Packages of one layer may use each other in one direction only: a package that is
used may not use its user, however long the way round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tests.architecture.sources import Sources, functions, imported, imports, parse

# What no line names is a package of pages and operations, on the layer RESOURCES.
RESOURCES = "pages and operations"
_ENTRY_POINTS = frozenset({
    "wsgi", "worker", "gunicorn.conf", "app", "app.factory", "app.core", "app.serve", "app.cli",
})  # fmt: skip
LAYERS: tuple[tuple[str, frozenset[str]], ...] = (
    ("entry points", _ENTRY_POINTS),
    (RESOURCES, frozenset()),
    ("shared by pages", frozenset({"app.site"})),
    ("shared by operations", frozenset({"app.api", "app.listing", "app.openapi"})),
    ("instance", frozenset({"app.instance"})),
    ("events", frozenset({"app.outbox", "app.audit", "app.audit_proof"})),
    ("limits", frozenset({"app.limits"})),
    ("authentication", frozenset({"app.auth"})),
    ("tables", frozenset({"app.models"})),
    ("processes", frozenset({"app.running", "app.web_server"})),
    ("jobs", frozenset({"app.jobs"})),
    ("services", frozenset({"app.http", "app.db", "app.postgresql", "app.security", "app.egress"})),
    ("files and filters", frozenset({"app.formats", "app.cql"})),
    ("shapes", frozenset({"app.shapes"})),
    ("geometry", frozenset({"app.geometry"})),
    ("values", frozenset({"app.values"})),
    (
        "policy",
        frozenset(
            {
                "app.policy",
                "config",
                "config_mail",
                "config_sso",
                "config_valkey",
                "config_values",
            }
        ),
    ),
)
NAMES = tuple(name for name, _ in LAYERS)

# Inside a package of pages and operations, from top to bottom; what matches none is the last one.
MODULES = (("routes", "views", "jobs", "blueprints"), ("schemas", "forms"), ())

# Pages validate with the schemas of the API, so that both take the same.
PAGES = "app.dashboard"

# Functions that import, and why that is not at the top of the file.
LATE_IMPORTS = {
    ("app.factory", "create_app"): "openai and httpx2 take long, and few instances need them",
    ("app.cli.context", "_runtime"): "help needs no application",
    ("app.imports.jobs", "run_imports"): "most commands need no geometry",
    ("app.history.jobs", "simplify_boundaries"): "likewise",
    ("app.operator.jobs", "run_doctor"): "most processes need none of the checks",
    ("app.cli.group", "invoke"): "help needs none of the libraries whose errors these are",
}

# Packages below ``app.api`` that may know Flask's request.
KNOW_REQUESTS = ("app.http", "app.auth", "app.limits", "app.audit")
REQUEST_NAMES = frozenset({"request", "session"})


def package(module: str) -> str:
    """``app.projects`` for ``app.projects.service``; ``app`` and the scripts are their own."""
    return ".".join(module.split(".")[:2])


def layer(module: str) -> int:
    """The layer of a module, counted from the top."""
    own = package(module)
    for number, (_, packages) in enumerate(LAYERS):
        if own in packages:
            return number
    return NAMES.index(RESOURCES)


def is_resource(module: str) -> bool:
    return layer(module) == NAMES.index(RESOURCES)


def height(module: str) -> int:
    """The place of a module inside its package of pages and operations, counted from the top."""
    last = module.rpartition(".")[2]
    return next((place for place, names in enumerate(MODULES) if last in names), len(MODULES) - 1)


def upward_imports(known: Sources) -> Iterator[str]:
    """Imports of a higher layer, or, in a package, of its routes by its service."""
    for module, source in known.items():
        for node, target in imports(source, known):
            if layer(target) < layer(module):
                reason = f"{NAMES[layer(module)]} imports {NAMES[layer(target)]}"
            elif package(module) == PAGES != package(target):
                continue
            elif is_resource(module) and height(target) < height(module) and is_resource(target):
                reason = "its routes or schemas"
            else:
                continue
            yield f"{module}:{node.lineno} imports {target}: {reason}"


def higher_names(known: Sources) -> Iterator[str]:
    """Strings that name a module of a higher layer, or of another package of the same one."""
    for module, source in known.items():
        for node in ast.walk(parse(source)):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            name = node.value
            if not name.startswith("app.") or " " in name or package(name) == package(module):
                continue
            if package(name) in map(package, known) and layer(name) <= layer(module) != 0:
                yield f"{module}:{node.lineno} names {name}"


def requests_below_operations(known: Sources) -> Iterator[str]:
    """Modules below ``app.api`` that know Flask's request and may not."""
    for module, source in known.items():
        if layer(module) <= NAMES.index("shared by operations") or package(module) in KNOW_REQUESTS:
            continue
        for node in ast.walk(parse(source)):
            for name in imported(node):
                if name.startswith("flask.") and name.removeprefix("flask.") in REQUEST_NAMES:
                    yield f"{module} imports {name}"


def hidden_imports(known: Sources) -> Iterator[str]:
    """Imports inside functions that are not in ``LATE_IMPORTS``."""
    for module, source in known.items():
        for function in functions(parse(source)):
            if (module, function.name) in LATE_IMPORTS:
                continue
            for node in ast.walk(function):
                if imported(node):
                    yield f"{module}:{node.lineno} imports inside {function.name}"  # type: ignore[attr-defined]


def cycle(known: Sources, *, of_packages: bool = False) -> list[str]:
    """Modules, or packages, that import each other in a circle; empty when there is none."""
    graph: dict[str, set[str]] = {}
    for module, source in known.items():
        own = package(module) if of_packages else module
        targets = {target for _, target in imports(source, known)}
        graph.setdefault(own, set()).update(map(package, targets) if of_packages else targets)
        graph[own].discard(own)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
