"""The guides are made at set-up, again when a document has changed, and their absence stops
nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docs import guides
from tests.architecture.sources import ROOT
from tests.processes.checkout import COPYING_UV, Checkout
from tests.processes.test_third_party import content

MADE = "app/reference/guides/made"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path)
    shutil.copy(ROOT / "requirements-dev.txt", checkout.root)
    (checkout.root / "docs").mkdir()
    for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.png"), ROOT / "docs/guides.py"):
        shutil.copy(path, checkout.root / "docs")
    checkout.put_tool("uv", COPYING_UV)
    return checkout


def make(checkout: Checkout, **variables: str) -> tuple[int, str]:
    script = checkout.root / "bin" / "_third_party.py"
    return checkout.run(str(checkout.tools / "python3"), str(script), **variables)


@pytest.mark.slow
def test_they_are_made_again_when_a_document_has_changed(checkout: Checkout) -> None:
    code, said = make(checkout)
    assert code == 0, said
    assert "Done in" in said
    made, before = checkout.root / MADE, content(checkout.root / MADE)
    assert {"README.html", "imports.html", "imports.md", "qgis-map.png", "stamp"} <= before.keys()
    assert make(checkout) == (0, "")
    with (checkout.root / "docs/imports.md").open("a") as document:
        document.write("\n## Bees\n")
    assert make(checkout)[0] == 0
    after = content(made)
    assert '<h2 id="bees">' in (made / "imports.html").read_text()
    assert {name for name in before if before[name] != after[name]} == {
        "guides.json", "imports.html", "imports.md", "stamp"
    }  # fmt: skip
    assert len(checkout.installs()) == 1  # the library stays


@pytest.mark.slow
def test_where_pypi_does_not_give_the_library_it_is_said(checkout: Checkout) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_CONFIG_FILE": "/dev/null"}
    code, said = make(checkout, FAILS="2", **nowhere)
    assert code == 1
    assert "The guides at /docs/guides cannot be installed: uv could not" in said.splitlines()[-1]
    assert not (checkout.root / MADE).exists()
    assert make(checkout)[0] == 0


def test_a_folder_that_cannot_be_written(checkout: Checkout) -> None:
    (checkout.root / MADE).parents[1].mkdir(parents=True)
    (checkout.root / MADE).parent.touch()  # root may write everywhere, but not below a file
    code, said = make(checkout)
    assert (code, said.splitlines()[-1].partition(" (")[0]) == (
        1, f"The guides at /docs/guides cannot be written to {checkout.root / MADE}"
    )  # fmt: skip


def test_headings_have_the_ids_of_github() -> None:
    body, about = guides.render("# A `b`, c\n\nOne\n*two*.\n\n## D & e\n\n## D & e\n\n### F\n")
    assert about == {
        "title": "A b, c",
        "summary": "One two.",
        "headings": [("d--e", "D & e"), ("d--e-1", "D & e")],
    }
    assert '<h2 id="d--e-1"><a href="#d--e-1">D &amp; e</a></h2>' in body


def test_only_links_to_guides_are_left() -> None:
    text = "[a](b.md#c), [`d` e](../f.py), [g](h.md), ![i](j.png), [k](#l), [m](https://n/o.md)"
    code = "`[p](q.md)`\n\n```\n[r](s.md)\n```\n"
    kept = "[a](b.md#c), `d` e, g, ![i](j.png), [k](#l), [m](https://n/o.md)"
    assert guides.with_links_to(["b"], f"{text} {code}") == f"{kept} {code}"


def test_comments_are_left_out_and_other_html_is_refused() -> None:
    body, _ = guides.render(
        "# A\n\n<!-- from x.py -->\n\n| | B |\n| --- | --- |\n| <!-- c --> | d |\n"
    )
    assert "from" not in body
    assert '<tr>\n<td></td>\n<th scope="col">B</th>' in body
    with pytest.raises(ValueError, match="not a comment: <b>"):
        guides.render("# A\n\nc <b>d</b>\n")


def test_a_list_has_sections_with_guides() -> None:
    one = "## One\n\n- [A](a.md): first,\n  on two lines.\n- [B c](b-c.md): second.\n"
    assert guides.sections(f"# G\n\nAll.\n\n{one}\n## Two\n\n- [D](d.md): third.\n") == [
        {"title": "One", "guides": [
            {"name": "a", "title": "A", "summary": "first, on two lines."},
            {"name": "b-c", "title": "B c", "summary": "second."},
        ]},
        {"title": "Two", "guides": [{"name": "d", "title": "D", "summary": "third."}]},
    ]  # fmt: skip


def test_the_guides_for_operators_are_a_section_of_the_list() -> None:
    titles = [each["title"] for each in guides.sections((ROOT / "docs/README.md").read_text())]
    assert guides.OPERATORS in titles
