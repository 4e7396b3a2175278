"""``docs/measured.md`` leads to every page of figures."""

from __future__ import annotations

from tests.architecture.documents import documents
from tests.docs.pages import links

PAGE = "docs/measured.md"


def test_every_page_of_figures_is_linked() -> None:
    pages = documents()
    found = {name.removeprefix("docs/") for name in pages if name.startswith("docs/measured/")}
    assert found
    assert found <= {target.partition("#")[0] for target in links(pages[PAGE])}
