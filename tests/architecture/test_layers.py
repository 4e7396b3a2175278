"""Imports go downward, stand at the top of a file, and run in no circle."""

from __future__ import annotations

import ast
import re

import pytest

from config import ROOT
from tests.architecture.layers import (
    LATE_IMPORTS,
    LAYERS,
    NAMES,
    RESOURCES,
    cycle,
    hidden_imports,
    higher_names,
    is_resource,
    layer,
    package,
    requests_below_operations,
    upward_imports,
)
from tests.architecture.sources import functions, imported, parse, sources


def test_every_layer_is_in_use() -> None:
    present = {package(module) for module in sources()}
    assert {name for _, packages in LAYERS for name in packages} <= present


def test_the_readme_shows_the_layers() -> None:
    _, _, picture = (ROOT / "README.md").read_text().partition("## How it is built")
    rows = re.findall(r"^│ ([a-z ]{22}) (.*?) *│$", picture, re.M)
    shown: dict[str, set[str]] = {}
    for label, names in rows:
        shown.setdefault(label.strip() or list(shown)[-1], set()).update(names.split())
    assert tuple(shown) == NAMES
    packages = {package(module) for module in sources() if is_resource(module)}
    assert shown[RESOURCES] == {name.removeprefix("app.") for name in packages}
    for name, known in LAYERS:
        if name not in (RESOURCES, "entry points", "policy"):
            assert shown[name] == {each.removeprefix("app.") for each in known}


def test_imports_go_downward() -> None:
    assert list(upward_imports(sources())) == []


def test_no_package_names_a_higher_one() -> None:
    assert list(higher_names(sources())) == []


def test_requests_are_known_above_only() -> None:
    assert list(requests_below_operations(sources())) == []


def test_imports_stand_at_the_top_of_a_file() -> None:
    assert list(hidden_imports(sources())) == []


def test_modules_import_in_no_circle() -> None:
    assert cycle(sources()) == []


def test_packages_import_in_no_circle() -> None:
    assert cycle(sources(), of_packages=True) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("app", "entry points"),
        ("app.cli.bees", "entry points"),
        ("app.bees.service", "pages and operations"),
        ("app.auth.guard", "authentication"),
        ("app.values.ids", "values"),
    ],
)
def test_a_module_has_the_layer_of_its_package(module: str, name: str) -> None:
    assert NAMES[layer(module)] == name


def test_an_import_upward_is_seen() -> None:
    fake = {"app.values.ids": "from app.models import Project", "app.models": ""}
    assert list(upward_imports(fake)) == [
        "app.values.ids:1 imports app.models: values imports tables"
    ]


def test_a_service_that_imports_its_routes_is_seen() -> None:
    fake = {"app.bees.service": "import app.bees.routes", "app.bees.routes": ""}
    assert len(list(upward_imports(fake))) == 1


@pytest.mark.parametrize("name", ["app.bees.jobs.fly", "app.trees.jobs.fall"])
def test_a_name_of_a_higher_package_is_seen(name: str) -> None:
    fake = {"app.jobs.queue": f"JOB = '{name}'", "app.bees.jobs": "", "app.trees.jobs": ""}
    assert list(higher_names(fake)) == [f"app.jobs.queue:1 names {name}"]


def test_a_package_may_name_itself() -> None:
    assert list(higher_names({"app.bees.service": "JOB = 'app.bees.jobs.fly'"})) == []


def test_a_low_module_that_knows_requests_is_seen() -> None:
    fake = {
        "app.db.bees": "from flask import Flask, request",
        "app.http.bees": "from flask import g",
    }
    assert list(requests_below_operations(fake)) == ["app.db.bees imports flask.request"]


def test_an_import_inside_a_function_is_seen() -> None:
    fake = {"app.bees.service": "def fly():\n    from app.trees import service"}
    assert list(hidden_imports(fake)) == ["app.bees.service:2 imports inside fly"]


def test_create_app_may_import() -> None:
    assert not list(hidden_imports({"app.factory": "def create_app():\n    import app.trees"}))


def test_functions_that_may_import_do() -> None:
    for module, name in LATE_IMPORTS:
        tree = parse(sources()[module])
        bodies = [node for node in functions(tree) if node.name == name]
        assert any(imported(node) for body in bodies for node in ast.walk(body)), (module, name)


def test_a_circle_of_modules_is_seen() -> None:
    fake = {
        "app.a.service": "from app.b.service import b",
        "app.b.service": "from app.c import service",
        "app.c.service": "import app.a.service",
    }
    assert set(cycle(fake)) == set(fake)


def test_a_circle_of_packages_is_seen() -> None:
    fake = {
        "app.a.one": "import app.b.one",
        "app.a.two": "",
        "app.b.one": "import app.c.one",
        "app.c.one": "import app.a.two",
    }
    assert cycle(fake) == []
    assert set(cycle(fake, of_packages=True)) == {"app.a", "app.b", "app.c"}
