"""The floors, and what an import between them may do.

A line of ``FLOORS`` gives the floor of all modules that match it; the first that matches decides.
A folder of ``app`` that no line names is a room, and the last lines hold for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from tests.house.sources import Sources, functions, imported, imports

FLOORS = {
    "wsgi": 6,
    "worker": 6,
    "gunicorn.conf": 6,
    "app": 6,
    "app.serve": 6,
    "app.cli": 6,
    "app.cli.*": 6,
    "config": 0,
    "config_values": 0,
    "app.extensions": 0,
    "app.policy": 0,
    "app.policy.*": 0,
    "app.core": 0,
    "app.core.*": 0,
    "app.running": 0,
    "app.running.*": 0,
    "app.models": 1,
    "app.models.*": 1,
    "app.auth": 2,
    "app.auth.*": 2,
    "app.outbox": 3,
    "app.api": 4,
    "app.api.*": 4,
    "app.site": 5,
    "app.site.*": 5,
    # A room's own.
    "app.*.routes": 5,
    "app.*.views": 5,
    "app.*.forms": 5,
    "app.*.jobs": 5,
    "app.*.schemas": 4,
    "app.*": 3,
}
# Folders that every room may use; of another room it may import the service only.
SHARED = ("cli", "core", "running", "policy", "models", "auth", "limits", "api", "site")

# (importer, imported): why the service of the room is not the way.
ROOM_EXCEPTIONS = {
    ("app.limits.storage", "app.usage.requests"): "hits the limits and counts in one step",
    ("app.maintenance.checks.store", "app.usage.requests"): "knows the names of its counters",
    ("app.maintenance.checks.mail", "app.mail.transport"): "tries the mail server",
    ("app.site.delivery_metrics", "app.webhooks.delivery.gauges"): "shows its numbers",
    ("app.row_changes.projects", "app.projects.derived"): "computes again what that room computes",
    ("app.row_changes.projects", "app.projects.record"): "likewise",
    ("app.row_changes.assets", "app.assets.derived"): "likewise",
    ("app.row_changes.assets", "app.assets.record"): "likewise",
}


def floor(module: str) -> int:
    """The floor of a module. Raises LookupError when no line is about it."""
    for pattern, number in FLOORS.items():
        if fnmatchcase(module, pattern):
            return number
    raise LookupError(f"{module} has no floor; give it one in tests/house/floors.py")


def room(module: str) -> str | None:
    """The room that a module belongs to, or None when it belongs to none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 and parts[1] not in SHARED else None


def upward_imports(known: Sources) -> Iterator[str]:
    """Imports that go up."""
    for module, source in known.items():
        for node, target in imports(source, known):
            if floor(target) > floor(module):
                yield f"{module}:{node.lineno} (floor {floor(module)}) imports {target}"


def side_doors(known: Sources) -> Iterator[str]:
    """Imports of a room that do not go through its service.

    ``app`` and the commands put the rooms together, and may.
    """
    for module, source in known.items():
        if floor(module) == 6:
            continue
        for node, target in imports(source, known):
            inner = room(target)
            own = inner is None or inner == room(module)
            through_service = target.endswith(".service")
            if not (own or through_service or (module, target) in ROOM_EXCEPTIONS):
                yield f"{module}:{node.lineno} imports {target}, which is no service"


def hidden_imports(known: Sources) -> Iterator[str]:
    """Imports inside functions, save in ``create_app``."""
    for module, source in known.items():
        for function in functions(ast.parse(source)):
            if (module, function.name) == ("app", "create_app"):
                continue
            for node in ast.walk(function):
                if imported(node):
                    yield f"{module}:{node.lineno} imports inside {function.name}"  # type: ignore[attr-defined]


def cycle(known: Sources) -> list[str]:
    """Modules that import each other in a circle; empty when there is none."""
    graph = {
        module: {target for _, target in imports(source, known)} - {module}
        for module, source in known.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
