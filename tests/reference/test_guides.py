"""The guides at /docs/guides, made from the documents: whole, linked, and the same in Markdown."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask

from app.reference.guides import routes
from docs import guides
from tests.architecture.sources import ROOT
from tests.docs.pages import anchors, links
from tests.make import Browser, new_email, second_app, sign_up

URL = "/docs/guides"
ADDRESS = "https://canopy.forest.org"
# For those who change Canopy, or choose it.
NOT_SERVED = {
    "README",
    "building-pages",
    "first-change",
    "internals",
    "measured",
    "request-flow",
    "tour",
}
NAMED = re.compile(rf"{URL}(?:/[\w-]+)?(?:#[\w-]+)?")


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The guides of these documents, in the place of those that set-up has made."""
    folder = tmp_path_factory.mktemp("guides")
    with pytest.MonkeyPatch.context() as patch:
        guides.write(folder)
        patch.setattr(routes, "MADE", folder)
        yield folder


class Html(HTMLParser):
    """The ids of a page, and what it links to and shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.styled: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "style":
                self.styled.append(tag)
            elif (tag, name) in (("a", "href"), ("img", "src")):
                self.targets.append(value or "")


def read(app: Flask, path: str) -> str:
    response = app.test_client().get(path, base_url=ADDRESS)
    assert response.status_code == 200, path
    return response.get_data(as_text=True)


def dead_links(app: Flask, start: str) -> tuple[set[str], list[str]]:
    """The pages below /docs that links lead to from one of them, and the links that lead nowhere
    there: to no page, or to nothing on it."""
    pages: dict[str, Html | None] = {}
    found = []
    waiting = [start]
    while waiting:
        page = waiting.pop()
        if page not in pages:
            response = app.test_client().get(page, base_url=ADDRESS)
            text = response.get_data(as_text=True) if response.mimetype == "text/html" else ""
            pages[page] = here = Html(text) if response.status_code == 200 else None
            for target in here.targets if here else ():
                url = urlsplit(urljoin(f"{ADDRESS}{page}", target))
                if f"{url.scheme}://{url.netloc}" == ADDRESS and url.path.startswith("/docs"):
                    found.append((page, url.path, url.fragment))
                    waiting.append(url.path)
    dead = [f"{page}: {path}#{id}" for page, path, id in found if not leads(pages[path], id)]
    return set(pages), dead


def leads(page: Html | None, id: str) -> bool:
    return page is not None and (not id or id in page.ids)


def names() -> list[str]:
    """The guides of the list."""
    return [link.removesuffix(".md") for link in links((ROOT / "docs/README.md").read_text())]


def test_every_link_leads_somewhere(app: Flask) -> None:
    pages, dead = dead_links(app, URL)
    assert dead == []
    assert {f"{URL}/{name}" for name in names()} | {URL, "/docs"} <= pages


def test_every_link_from_elsewhere_in_the_service_leads_somewhere(app: Flask) -> None:
    files = [path for kind in ("py", "html", "js") for path in ROOT.glob(f"app/**/*.{kind}")]
    texts = (path.read_text() for path in files if path.parent.name != "made")
    named = {name for text in texts for name in NAMED.findall(text)}
    assert len(named) > 5
    for name in named:
        path, _, id = name.partition("#")
        assert leads(Html(read(app, path)), id), name


def test_every_document_is_a_guide_or_meant_for_others() -> None:
    assert len(set(names())) == len(names())
    assert {path.stem for path in ROOT.glob("docs/*.md")} - set(names()) == NOT_SERVED


def test_a_guide(app: Flask) -> None:
    for name in names():
        document = (ROOT / f"docs/{name}.md").read_text()
        page, text = read(app, f"{URL}/{name}"), read(app, f"{URL}/{name}.md")
        html = Html(page)
        assert anchors(document) <= set(html.ids)  # those of GitHub
        assert len(set(html.ids)) == len(html.ids)
        assert html.styled == []  # the policy for content forbids it
        assert f'<link rel="canonical" href="{ADDRESS}{URL}/{name}">' in page
        assert "<!--" not in page
        assert page.count('<pre tabindex="0"><code>') == page.count("<pre") >= text.count("```") / 2
        kept = {link.partition("#")[0] for link in links(text) if not link.startswith("http")}
        assert {link.removesuffix(".md") for link in kept} <= {*names(), ""}
        assert re.sub(r"\]\([^)]*\)|[][]", "", text).splitlines()[0] == document.splitlines()[0]


def test_examples_have_the_address_of_the_instance(app: Flask) -> None:
    for path in (f"{URL}/imports", f"{URL}/imports.md"):
        text = read(app, path)
        assert f"{ADDRESS}/v1/imports" in text
        assert "127.0.0.1" not in text
        assert routes.ADDRESS not in text
    assert "http://127.0.0.1:8000/readyz" in read(app, f"{URL}/run")  # on the machine itself


def test_a_host_that_is_none_does_not_get_into_a_guide(app: Flask) -> None:
    host = 'a"><script>'
    answer = app.test_client().get(f"{URL}/imports", headers={"Host": host})
    assert host not in answer.get_data(as_text=True)


def test_copies_are_kept_and_asked_about(app: Flask) -> None:
    for path, kind in [
        (URL, "text/html"),
        (f"{URL}/imports", "text/html"),
        (f"{URL}/imports.md", "text/markdown"),
        (f"{URL}/qgis-map.png", "image/png"),
        ("/llms.txt", "text/plain"),
    ]:
        first = app.test_client().get(path)
        assert (first.status_code, first.mimetype) == (200, kind)
        assert first.headers["Cache-Control"] == "no-cache"
        assert "Set-Cookie" not in first.headers
        again = app.test_client().get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.get_data()) == (304, b"")


def test_a_guide_says_sign_in_to_strangers(app: Flask) -> None:
    stranger = Browser(app).get(f"{URL}/imports")
    assert "/login" in stranger.links
    assert "Cookie" in stranger.response.headers["Vary"]
    browser = sign_up(app, new_email("guide"))
    assert URL in browser.get("/profile").links
    page = browser.get(f"{URL}/imports")
    assert {"/profile", URL} <= set(page.links)
    assert page.response.headers["ETag"] != stranger.response.headers["ETag"]


def test_nothing_else_is_served(app: Flask) -> None:
    for name in ["README", "nothing", "guides.json", "stamp", "..%2froutes.py"]:
        for ending in ["", ".md", ".png"]:
            assert app.test_client().get(f"{URL}/{name}{ending}").status_code == 404


def test_the_list_for_language_models(app: Flask) -> None:
    """llmstxt.org."""
    with second_app(app, instance_name="Harz Forests") as made:
        text = read(made, "/llms.txt")
    title, _, summary, *_ = text.splitlines()
    assert (title, summary[:29]) == ("# Harz Forests", "> Canopy is a registry of for")
    targets = links(text)
    assert f"{ADDRESS}/v1/openapi.json" in targets
    assert {f"{ADDRESS}{URL}/{name}.md" for name in names()} < set(targets)
    for target in targets:
        assert read(app, target.removeprefix(ADDRESS))


def test_where_they_were_not_made_pages_say_what_to_do(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MADE", tmp_path)
    for path in (URL, f"{URL}/imports", f"{URL}/imports.md", "/llms.txt"):
        response = app.test_client().get(path, headers={"Accept": "text/html"})
        assert response.status_code == 404
        assert "python3 bin/_third_party.py" in response.get_data(as_text=True)


def test_a_dead_link_is_seen(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(routes.MADE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "chat.html").write_text('<a href="/docs/guides/no">x</a><a href="#no">x</a>')
    monkeypatch.setattr(routes, "MADE", tmp_path)
    dead = {each for each in dead_links(app, f"{URL}/chat")[1] if each.endswith(("no#", "#no"))}
    assert dead == {f"{URL}/chat: {URL}/no#", f"{URL}/chat: {URL}/chat#no"}
