"""Each recipe is followed as it stands in a copy of the checkout, and its own test passes there."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs import recipes
from tests.docs.pages import prose
from tests.docs.recipes import Edit

PATHS = [*sorted(recipes.FOLDER.glob("*.md")), recipes.FOLDER.parent / "first-change.md"]
PAGES = {path.stem: path.read_text() for path in PATHS}
RUN = {name: page for name, page in PAGES.items() if list(recipes.commands(page))}
# Followed by hand: each puts several of the others together.
PROSE = {"README", "permission", "resource"}
WORDS = (150, 700)  # without its blocks


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    recipes.copy_checkout(folder)
    return folder


def test_every_recipe_is_run() -> None:
    assert PAGES.keys() - RUN.keys() == PROSE
    assert len(RUN) >= 9


@pytest.mark.slow
@pytest.mark.parametrize("names", [{"first-change"}, RUN.keys() - {"first-change"}], ids=len)
def test_recipes_work_as_they_stand(copy: Path, names: set[str]) -> None:
    """Those of the folder one after the other in one copy."""
    tests: list[str] = []
    commands: list[list[str]] = []
    with ExitStack() as stack:
        for page in map(RUN.__getitem__, sorted(names)):
            stack.enter_context(recipes.followed(page, copy))
            *before, (_, *files) = recipes.commands(page)
            commands += [command for command in before if command not in commands]
            written = {edit.path for edit in recipes.edits(page) if "/test_" in edit.path}
            assert written & {*files}, f"{page.splitlines()[0]} has no test"
            tests += [file for file in files if file not in tests]
        for command in commands:
            recipes.run(command, copy)
        assert " passed" in recipes.run(["bin/test", *tests], copy)


@pytest.mark.trial
@pytest.mark.parametrize("name", RUN)
def test_a_recipe_works_alone(copy: Path, name: str) -> None:
    with recipes.followed(RUN[name], copy):
        output = [recipes.run(command, copy) for command in recipes.commands(RUN[name])]
    assert " passed" in output[-1]


def test_a_recipe_is_short_and_tells_where_each_block_goes() -> None:
    fewest, most = WORDS
    for name, page in RUN.items():
        assert list(recipes.unclear(page)) == [], name
        assert fewest <= len(prose(page).split()) <= most, name


def test_a_block_that_is_not_placed_is_seen() -> None:
    page = "In `a.py`, below `b`:\n\n<!-- in a.py, after: {} -->\n```python\nc\n```\n"
    assert list(recipes.unclear(page.format("b"))) == []
    assert list(recipes.unclear(page.format("d"))) == ["in a.py, after: d"]
    assert list(recipes.unclear("```python\nc\n```\n")) == ["c"]


def test_a_line_that_is_gone_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n")
    with pytest.raises(AssertionError, match="0 lines"):
        Edit("a", "x\n", "after", "b").apply(tmp_path)
