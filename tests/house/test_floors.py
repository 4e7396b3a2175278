"""Imports go downward, stand at the top of a file, and run in no circle."""

from __future__ import annotations

import pytest

from tests.house.floors import (
    ROOM_EXCEPTIONS,
    cycle,
    floor,
    hidden_imports,
    side_doors,
    upward_imports,
)
from tests.house.sources import imports, sources


def test_every_module_has_a_floor() -> None:
    assert all(0 <= floor(module) <= 6 for module in sources())


def test_imports_go_downward() -> None:
    assert list(upward_imports(sources())) == []


def test_a_room_is_entered_through_its_service() -> None:
    assert list(side_doors(sources())) == []


def test_imports_stand_at_the_top_of_a_file() -> None:
    assert list(hidden_imports(sources())) == []


def test_imports_run_in_no_circle() -> None:
    assert cycle(sources()) == []


def test_exceptions_are_in_use() -> None:
    known = sources()
    used = {(module, target) for module in known for _, target in imports(known[module], known)}
    present = {pair for pair in ROOM_EXCEPTIONS if pair[0] in known}
    assert present <= used


@pytest.mark.parametrize(
    ("module", "number"),
    [("app", 6), ("app.bees.routes", 5), ("app.bees.schemas", 4), ("app.bees.service", 3)],
)
def test_a_new_room_has_floors(module: str, number: int) -> None:
    assert floor(module) == number


def test_an_import_upward_is_seen() -> None:
    fake = {"app.core.ids": "from app.models import Project", "app.models": ""}
    assert list(upward_imports(fake)) == ["app.core.ids:1 (floor 0) imports app.models"]


def test_an_import_upward_of_a_module_by_name_is_seen() -> None:
    fake = {"app.bees.service": "import app.bees.routes", "app.bees.routes": ""}
    assert len(list(upward_imports(fake))) == 1


def test_a_side_door_is_seen() -> None:
    fake = {"app.bees.service": "from app.trees.listing import trees", "app.trees.listing": ""}
    assert len(list(side_doors(fake))) == 1


def test_an_import_inside_a_function_is_seen() -> None:
    fake = {"app.bees.service": "def fly():\n    from app.trees import service"}
    assert list(hidden_imports(fake)) == ["app.bees.service:2 imports inside fly"]


def test_create_app_may_import() -> None:
    assert not list(hidden_imports({"app": "def create_app():\n    import app.trees"}))


def test_a_circle_is_seen() -> None:
    fake = {
        "app.a.service": "from app.b.service import b",
        "app.b.service": "from app.c import service",
        "app.c.service": "import app.a.service",
    }
    assert set(cycle(fake)) == set(fake)
