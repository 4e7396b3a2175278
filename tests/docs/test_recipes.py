"""Each recipe is followed as it stands in a copy of the checkout, and its own test passes there."""

from __future__ import annotations

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
@pytest.mark.parametrize("name", RUN)
def test_a_recipe_works_as_it_stands(copy: Path, name: str) -> None:
    with recipes.followed(RUN[name], copy):
        written = [edit.path for edit in recipes.edits(RUN[name]) if "/test_" in edit.path]
        output = [recipes.run(command, copy) for command in recipes.commands(RUN[name])]
    assert any(path in word for path in written for word in RUN[name].split()), "has no test"
    assert " passed" in output[-1]


@pytest.mark.parametrize("name", RUN)
def test_a_recipe_tells_where_each_block_goes(name: str) -> None:
    assert list(recipes.unclear(RUN[name])) == []


@pytest.mark.parametrize("name", RUN)
def test_a_recipe_is_short(name: str) -> None:
    fewest, most = WORDS
    assert fewest <= len(prose(RUN[name]).split()) <= most


def test_a_block_that_is_not_placed_is_seen() -> None:
    page = "In `a.py`, below `b`:\n\n<!-- in a.py, after: {} -->\n```python\nc\n```\n"
    assert list(recipes.unclear(page.format("b"))) == []
    assert list(recipes.unclear(page.format("d"))) == ["in a.py, after: d"]
    assert list(recipes.unclear("```python\nc\n```\n")) == ["c"]


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("after", "a\n  b\nx\n"),
        ("before", "a\nx\n  b\n"),
        ("instead of", "a\nx\n"),
        ("", "a\n  b\nx\n"),
    ],
)
def test_text_goes_where_it_is_told(tmp_path: Path, where: str, text: str) -> None:
    (tmp_path / "a").write_text("a\n  b\n")
    Edit("a", "x\n", where, "b" if where else "").apply(tmp_path)
    assert (tmp_path / "a").read_text() == text


def test_a_line_that_is_gone_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n")
    with pytest.raises(AssertionError, match="0 lines"):
        Edit("a", "x\n", "after", "b").apply(tmp_path)
