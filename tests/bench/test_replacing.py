"""Functions replaced for a measurement, and the proof that the replacements were called."""

from __future__ import annotations

import types
from collections.abc import Callable

import pytest
from flask import Flask

from bench import replacing
from bench.wire import build
from tests.bench.serving import served

GET = build("GET", "/", {})


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    monkeypatch.setattr(replacing, "_calls", {})
    made = types.ModuleType("forest")
    made.measure = lambda tree, height=1: tree * height  # type: ignore[attr-defined]
    return made


def test_replaces_what_takes_the_same_arguments(module: types.ModuleType) -> None:
    replacing.replace(module, "measure", lambda tree, height=2: "replaced")
    assert module.measure(3) == "replaced"


def test_refuses_other_arguments(module: types.ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"forest\.measure takes"):
        replacing.replace(module, "measure", lambda tree: "replaced")


def test_refuses_what_is_not_there(module: types.ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"no function forest\.fell"):
        replacing.replace(module, "fell", lambda tree: "replaced")


def test_remembers_by_arguments_and_keeps_the_signature(module: types.ModuleType) -> None:
    calls = []

    def measure(tree: int, height: int = 1) -> int:
        calls.append(tree)
        return tree

    module.measure = measure  # type: ignore[attr-defined]
    replacing.replace(module, "measure", replacing.remembered(measure))
    assert [module.measure(3), module.measure(3), module.measure(4)] == [3, 3, 4]
    assert calls == [3, 4]


def application(view: Callable[[], str]) -> Flask:
    app = Flask(__name__)
    app.add_url_rule("/", "view", view)
    replacing.add_unused_route(app)
    return app


def test_check_names_a_replacement_that_was_never_called(module: types.ModuleType) -> None:
    replacing.replace(module, "measure", lambda tree, height=1: "replaced")
    app = application(lambda: "unmeasured")
    with served(app) as port, pytest.raises(SystemExit, match=r"forest\.measure"):
        replacing.check(port, GET, [])


def test_check_passes_once_it_was_called(module: types.ModuleType) -> None:
    replacing.replace(module, "measure", lambda tree, height=1: "replaced")
    with served(application(lambda: module.measure(1))) as port:
        replacing.check(port, GET, ["X-Gone", ""])


def test_check_names_a_header_that_is_still_there(module: types.ModuleType) -> None:
    app = application(lambda: "ok")
    with served(app) as port, pytest.raises(SystemExit, match="Content-Type"):
        replacing.check(port, GET, ["Content-Type"])
