"""Who changes the state of a class: its own methods, and no other module.

``OWNED`` names the classes. The checker goes by the names of their attributes, in the package of
the class and in the modules that import it. An attribute of ``self`` is one of another class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tests.architecture.layers import package
from tests.architecture.sources import Sources, dotted, imported, parse

OWNED = {"WebhookQueue": "app.deliveries.webhook_queue"}  # class: its module

_SETTERS = ("setattr", "delattr", "object.__setattr__", "object.__delattr__", "vars")


@dataclass(frozen=True)
class Owner:
    """A class, its module, and the attributes that its methods set."""

    name: str
    module: str
    attributes: frozenset[str]

    @property
    def private(self) -> frozenset[str]:
        return frozenset(name for name in self.attributes if name.startswith("_"))


def owner(name: str, module: str, known: Sources) -> Owner:
    (found,) = (
        node
        for node in ast.walk(parse(known[module]))
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    attributes = {
        node.attr
        for node in ast.walk(found)
        if isinstance(node, ast.Attribute) and _is_of_self(node) and _is_changed(node)
    }
    return Owner(name, module, frozenset(attributes))


def foreign_changes(known: Sources) -> Iterator[str]:
    """Places outside its module where the state of an owned class is changed, or could be."""
    for name, own_module in OWNED.items():
        found = owner(name, own_module, known)
        for module, source in known.items():
            tree = parse(source)
            if module != own_module and _may_have(tree, module, found):
                for line, what in sorted(_changes(tree, found)):
                    yield f"{module}:{line} {what} of {name}"


def _may_have(tree: ast.AST, module: str, found: Owner) -> bool:
    """Whether a module may get hold of an instance."""
    names = {name for node in ast.walk(tree) for name in imported(node)}
    return package(module) == package(found.module) or bool(
        names & {found.module, f"{found.module}.{found.name}"}
    )


def _changes(tree: ast.AST, found: Owner) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not _is_of_self(node):
            if node.attr in found.private:  # what is read could be a list that is then changed
                yield node.lineno, f"uses {node.attr}"
            elif node.attr == "__dict__":
                yield node.lineno, "may set any attribute"
        if isinstance(node, ast.Attribute | ast.Subscript) and _is_changed(node):
            yield from ((node.lineno, f"changes {name}") for name in _path(node) & found.attributes)
        elif isinstance(node, ast.Call) and dotted(node.func) in _SETTERS:
            yield node.lineno, f"may set any attribute with {dotted(node.func)}"
        elif isinstance(node, ast.ClassDef) and found.name in map(_last, node.bases):
            yield node.lineno, f"{node.name} inherits the attributes"


def _path(node: ast.AST) -> set[str]:
    """The attributes on the way to what is changed: ``health`` in ``queue.health[0] = 1``."""
    names = set()
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and not _is_of_self(node):
            names.add(node.attr)
        node = node.value
    return names


def _is_of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_changed(node: ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _last(node: ast.AST) -> str:
    return dotted(node).rpartition(".")[2]
