"""A page says first what it is for, can be read at once, and its tables are whole."""

from __future__ import annotations

import re

from docs.generate import without_tables
from tests.architecture.documents import documents
from tests.docs.pages import prose

MOST_WORDS = 4_000
PAGES = documents()
# Decision records begin with their date and context.
GUIDES = {name for name in PAGES if name.startswith("docs/") and "/adr/" not in name}


def first_paragraph(page: str) -> str:
    return prose(page).strip().split("\n\n")[1]


def is_prose(paragraph: str) -> bool:
    return paragraph[0] not in "#|-<!" and len(paragraph.split()) >= 10


def test_no_page_is_long() -> None:
    words = {name: len(without_tables(page).split()) for name, page in PAGES.items()}
    assert {name: number for name, number in words.items() if number > MOST_WORDS} == {}


def test_a_guide_says_first_what_it_answers() -> None:
    assert [name for name in GUIDES if not is_prose(first_paragraph(PAGES[name]))] == []


def test_each_table_has_a_head() -> None:
    """An empty line within a table would end it, and show the rest as text."""
    headless = re.compile(r"\n\n\|[^\n]*\n(?!\|[ :|-]+\|\n)")
    assert [name for name, page in PAGES.items() if headless.search(prose(page))] == []
