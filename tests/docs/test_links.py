"""Links lead somewhere, and so does every path that a page names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.architecture.documents import documents
from tests.architecture.sources import ROOT
from tests.docs.pages import anchors, blocks, links, paths
from tests.docs.recipes import created

PAGES = documents()
# pytest alone does not make it, and in a container it may be missing.
MADE_AT_SET_UP = "app/site/static/third_party"


def dead_links(name: str, page: str, root: Path = ROOT) -> Iterator[str]:
    """Links within the repository that lead to no file, no folder or no heading."""
    for target in links(page):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        path = root / name if not file else (root / name).parent / file
        if not path.exists() or (anchor and anchor not in anchors(path.read_text())):
            yield target


def misquoted(page: str, root: Path = ROOT) -> Iterator[str]:
    """Blocks that are not in the file which they say they are from."""
    for block in blocks(page):
        if block.source and block.text not in (root / block.source).read_text():
            yield f"{block.source}: {block.text}"


def test_links_lead_somewhere() -> None:
    dead = {name: list(dead_links(name, page)) for name, page in PAGES.items()}
    assert {name: found for name, found in dead.items() if found} == {}


def test_paths_exist() -> None:
    for name, page in PAGES.items():
        named = sorted(paths(page) - created(page))
        there = (path for path in named if not path.startswith(MADE_AT_SET_UP))
        assert [path for path in there if not (ROOT / path).exists()] == [], name


def test_quoted_code_is_in_its_file() -> None:
    stale = {name: list(misquoted(page)) for name, page in PAGES.items()}
    assert {name: found for name, found in stale.items() if found} == {}


def test_a_page_begins_with_its_title() -> None:
    assert [name for name, page in PAGES.items() if not page.startswith("# ")] == []


def test_dead_links_are_seen(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("page.md", "tour.md"):
        (tmp_path / "docs" / name).write_text("# Tour\n")
    dead = ["bees.md", "../app/bees.py", "tour.md#bees", "#bees"]
    page = " ".join(f"[this]({target})" for target in dead)
    assert list(dead_links("docs/page.md", page, tmp_path)) == dead


def test_a_link_to_a_heading_is_followed(tmp_path: Path) -> None:
    (tmp_path / "tour.md").write_text("# A tour\n\n## 4. One request, there & `back`\n")
    page = "[a](tour.md#4-one-request-there--back) and [b](https://example.org/bees)"
    assert list(dead_links("page.md", page, tmp_path)) == []


def test_a_path_is_seen_in_a_drawing_and_in_no_address() -> None:
    page = "```\n3  app/bees/service.py …  app/hive.py\n```\n.venv/bin/x http://a/docs/b $X/app/c"
    assert paths(page) == {"app/bees/service.py", "app/hive.py"}


def test_a_quotation_that_went_stale_is_seen(tmp_path: Path) -> None:
    (tmp_path / "bees.py").write_text("def fly() -> None:\n    hum()\n")
    code = "   ```python\n   def fly() -> None:\n       hum()\n   ```\n"
    page = f"1. So:\n\n   <!-- from bees.py -->\n{code}"
    assert list(misquoted(page, tmp_path)) == []
    assert len(list(misquoted(page.replace("hum", "sting"), tmp_path))) == 1
