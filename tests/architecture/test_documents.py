"""The documentation names every setting and every error, and nothing that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.http import errors
from config import setting_docs
from tests.architecture.documents import (
    codes_without_page,
    dead_references,
    docstrings,
    documents,
    error_classes,
    not_drawn,
    setting_rows,
    unknown_words,
)
from tests.architecture.sources import sources
from tests.docs.recipes import created

SETTINGS = "docs/settings.md"


def test_every_setting_has_a_row() -> None:
    pages = documents()
    assert SETTINGS in pages, f"{SETTINGS} is missing: it has a table, one row a setting"
    rows = setting_rows(pages[SETTINGS])
    names = [setting.name for setting in setting_docs()]
    assert sorted(rows) == sorted(names), "a row | `NAME` | … | for each setting, and no other"


def test_the_hierarchy_of_errors_is_drawn_whole() -> None:
    assert list(not_drawn(errors.__doc__ or "", error_classes())) == []


def test_every_error_code_is_on_a_page() -> None:
    missing = codes_without_page(documents().values(), error_classes())
    assert not missing, "a page of docs/ has a table with a row for each: | 409 | `CONFLICT` | … |"


@pytest.mark.parametrize("page", sorted(documents()))
def test_what_a_page_names_exists(page: str) -> None:
    text = documents()[page]
    assert set(dead_references(text)) - created(text) == set()


def test_what_docstrings_name_exists() -> None:
    found = {name: list(dead_references(text)) for name, text in docstrings(sources()).items()}
    assert {name: dead for name, dead in found.items() if dead} == {}


def test_what_the_docstring_of_a_package_names_is_in_it() -> None:
    packages = {name.rpartition(".")[0] for name in sources()} & sources().keys()
    found = {name: list(unknown_words(name, sources())) for name in sorted(packages)}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_module_that_is_gone_is_seen() -> None:
    modules = {"hive": '"""``bees`` hum, ``wasps`` do not."""\n', "hive.bees": "import wasps\n"}
    assert list(unknown_words("hive", modules)) == ["wasps"]


@pytest.mark.parametrize(
    "text", ["Like ``app.bees``.", "See ``app/bees.py``.", "``hum`` of ``app/values/ids.py``"]
)
def test_a_dead_reference_of_a_docstring_is_seen(text: str) -> None:
    source = f'class Hive:\n    def fly(self) -> None:\n        """Fly. {text}"""\n'
    assert len(list(dead_references(docstrings({"hive": source})["hive"]))) == 1


def test_a_setting_without_a_row_is_seen() -> None:
    assert setting_rows("| `PORT` | 8000 | … |\nand `HOST` in a sentence") == ["PORT"]


def test_an_error_that_is_not_drawn_is_seen() -> None:
    drawing = (errors.__doc__ or "").replace("── NotFound ", "── Lost ")
    assert list(not_drawn(drawing, error_classes())) == ["NotFound"]


def test_an_error_that_is_drawn_with_another_status_is_seen() -> None:
    drawing = (errors.__doc__ or "").replace("409", "410")
    assert list(not_drawn(drawing, error_classes())) == ["Conflict"]


def test_a_code_without_a_row_is_seen() -> None:
    page = "| 404 | `NOT_FOUND` |\nand `CONFLICT` in a sentence"
    missing = codes_without_page([page], error_classes())
    assert "CONFLICT" in missing
    assert "NOT_FOUND" not in missing


@pytest.mark.parametrize(
    "text",
    [
        "`app.values.ids.old_id`",
        "`app.bees`",
        "`config.load`",
        "`app/bees/routes.py`",
        "`docs/bees.md`",
        "`bees.py`",
        "`app.values.ids.old_id()`",
        "`old_id` of `app/values/ids.py`",
    ],
)
def test_a_dead_reference_is_seen(text: str) -> None:
    assert len(list(dead_references(f"See {text}."))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`app.values.ids.new_id`",
        "`new_id` of `app/values/ids.py`",
        "`js/page.js`",
        "`app.values.ids.new_id(kind)`",
        "`app.auth.principal.Principal.may`",
        "`app.auth.principal.Principal.plan`",
        "`app.http.errors`",
        "`config.load_settings`",
        "`app/values/ids.py`",
        "`ids.py`",
        "`config.py`",
        "`projects:read`",
    ],
)
def test_what_exists_passes(text: str) -> None:
    assert list(dead_references(f"See {text}.")) == []


def test_a_file_is_looked_for_in_the_root(tmp_path: Path) -> None:
    assert list(dead_references("`docs/tour.md`", tmp_path))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/tour.md").touch()
    assert not list(dead_references("`docs/tour.md`", tmp_path))
